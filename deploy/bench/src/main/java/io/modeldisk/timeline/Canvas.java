package io.modeldisk.timeline;

/** What can be drawn on, in units of which a picture has some hundreds. Colours are {@code #rrggbb}. */
public interface Canvas {
    /** Where a text stands from its position. */
    enum Anchor {
        START, MIDDLE, END
    }

    /** A filled rectangle. */
    void rectangle(double x, double y, double width, double height, String fill);

    /** The outline of a rectangle, dashed. */
    void dashedRectangle(double x, double y, double width, double height, String stroke);

    /** A thin line. */
    void line(double x1, double y1, double x2, double y2, String stroke);

    /** A line of text; the position is of its base line. */
    void text(double x, double y, double size, boolean bold, Anchor anchor, String fill, String text);
}
