package io.modeldisk.picture;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;

/** Draws the shapes of a timeline. Colours are {@code 0xRRGGBB}. Not thread-safe. */
public final class Pen {
    private static final BasicStroke THIN = new BasicStroke(1);
    private static final BasicStroke DASHED = new BasicStroke(1, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10,
        new float[]{3, 3}, 0);

    private final Graphics2D graphics;

    /** The part of a text (start, middle or end) that is placed at the given x coordinate. */
    public enum Anchor {
        START, MIDDLE, END
    }

    /** Creates a pen that draws on the given graphics. */
    public Pen(Graphics2D graphics) {
        this.graphics = graphics;
    }

    /** Fills a rectangle. */
    public void rectangle(double x, double y, double width, double height, int colour) {
        graphics.setColor(new Color(colour));
        graphics.fill(new Rectangle2D.Double(x, y, width, height));
    }

    /** Draws the dashed outline of a rectangle. */
    public void dashedRectangle(double x, double y, double width, double height, int colour) {
        graphics.setColor(new Color(colour));
        graphics.setStroke(DASHED);
        graphics.draw(new Rectangle2D.Double(x, y, width, height));
    }

    /** Draws a thin line. */
    public void line(double x1, double y1, double x2, double y2, int colour) {
        graphics.setColor(new Color(colour));
        graphics.setStroke(THIN);
        graphics.draw(new Line2D.Double(x1, y1, x2, y2));
    }

    /** Draws a line of text. The base line of the text is at {@code y}. */
    public void text(double x, double y, int size, boolean bold, Anchor anchor, int colour, String text) {
        graphics.setColor(new Color(colour));
        graphics.setFont(new Font(Font.SANS_SERIF, bold ? Font.BOLD : Font.PLAIN, size));
        double width = graphics.getFontMetrics().stringWidth(text);
        double left = switch (anchor) {
            case START -> x;
            case MIDDLE -> x - width / 2;
            case END -> x - width;
        };
        graphics.drawString(text, (float) left, (float) y);
    }
}
