package io.modeldisk.timeline;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.ImageIO;

/** Draws an image of twice as many pixels as the picture has units. Needs no display. Not thread-safe. */
public final class ImageCanvas implements Canvas {
    private static final int PIXELS_A_UNIT = 2;

    private final BufferedImage image;
    private final Graphics2D graphics;

    /** An empty white picture. */
    public ImageCanvas(double width, double height) {
        image = new BufferedImage((int) Math.ceil(width * PIXELS_A_UNIT), (int) Math.ceil(height * PIXELS_A_UNIT),
            BufferedImage.TYPE_INT_RGB);
        graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        graphics.scale(PIXELS_A_UNIT, PIXELS_A_UNIT);
        rectangle(0, 0, width, height, "#ffffff");
    }

    @Override
    public void rectangle(double x, double y, double width, double height, String fill) {
        graphics.setColor(Color.decode(fill));
        graphics.fill(new Rectangle2D.Double(x, y, width, height));
    }

    @Override
    public void dashedRectangle(double x, double y, double width, double height, String stroke) {
        graphics.setColor(Color.decode(stroke));
        graphics.setStroke(
            new BasicStroke(1, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10, new float[]{3, 3}, 0));
        graphics.draw(new Rectangle2D.Double(x, y, width, height));
    }

    @Override
    public void line(double x1, double y1, double x2, double y2, String stroke) {
        graphics.setColor(Color.decode(stroke));
        graphics.setStroke(new BasicStroke(1));
        graphics.draw(new Line2D.Double(x1, y1, x2, y2));
    }

    @Override
    public void text(double x, double y, double size, boolean bold, Anchor anchor, String fill, String text) {
        graphics.setColor(Color.decode(fill));
        graphics.setFont(new Font(Font.SANS_SERIF, bold ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) size));
        double width = graphics.getFontMetrics().getStringBounds(text, graphics).getWidth();
        double left = switch (anchor) {
            case START -> x;
            case MIDDLE -> x - width / 2;
            case END -> x - width;
        };
        graphics.drawString(text, (float) left, (float) y);
    }

    /** The picture as a PNG file has it. */
    public byte[] png() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, "png", out);
        return out.toByteArray();
    }
}
