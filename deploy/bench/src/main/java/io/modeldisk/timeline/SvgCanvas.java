package io.modeldisk.timeline;

import java.util.Locale;

/** Draws SVG 1.1. Not thread-safe. */
public final class SvgCanvas implements Canvas {
    private final StringBuilder svg = new StringBuilder();

    /** An empty white picture. */
    public SvgCanvas(double width, double height) {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            + "font-family=\"Helvetica, Arial, sans-serif\">", width, height, width, height);
        rectangle(0, 0, width, height, "#ffffff");
    }

    @Override
    public void rectangle(double x, double y, double width, double height, String fill) {
        add("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>", x, y, width, height, fill);
    }

    @Override
    public void dashedRectangle(double x, double y, double width, double height, String stroke) {
        add("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"%s\" "
            + "stroke-dasharray=\"3 3\"/>", x, y, width, height, stroke);
    }

    @Override
    public void line(double x1, double y1, double x2, double y2, String stroke) {
        add("<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>", x1, y1, x2, y2, stroke);
    }

    @Override
    public void text(double x, double y, double size, boolean bold, Anchor anchor, String fill, String text) {
        add("<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.0f\"%s text-anchor=\"%s\" fill=\"%s\">%s</text>", x, y, size,
            bold ? " font-weight=\"bold\"" : "", anchor.name().toLowerCase(Locale.ROOT), fill, escape(text));
    }

    /** The whole picture. */
    public String text() {
        return svg + "</svg>\n";
    }

    private void add(String form, Object... values) {
        svg.append(String.format(Locale.ROOT, form, values)).append('\n');
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
