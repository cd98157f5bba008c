package io.modeldisk.picture;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import javax.imageio.ImageIO;

/** Draws pictures with a white background into SVG or PNG files. */
public final class PictureFile {
    private static final int PNG_PIXELS_A_UNIT = 2;

    private PictureFile() {}

    /**
     * Draws a picture into a file. The format is SVG if the name of the file ends in .svg, and PNG otherwise.
     *
     * @param width the width in units; a PNG has two pixels for each unit
     * @param height the height in the same units
     * @throws IOException if the file cannot be written, or if Java cannot draw text on this machine
     */
    public static void write(Path file, int width, int height, Consumer<Graphics2D> drawing) throws IOException {
        checkFonts();
        if (file.toString().toLowerCase(Locale.ROOT).endsWith(".svg")) {
            VectorGraphics2D graphics = new VectorGraphics2D();
            draw(graphics, width, height, drawing);
            try (OutputStream out = Files.newOutputStream(file)) {
                new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(0, 0, width, height)).writeTo(out);
            }
            return;
        }
        BufferedImage image = new BufferedImage(width * PNG_PIXELS_A_UNIT, height * PNG_PIXELS_A_UNIT,
            BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        graphics.scale(PNG_PIXELS_A_UNIT, PNG_PIXELS_A_UNIT);
        draw(graphics, width, height, drawing);
        graphics.dispose();
        ImageIO.write(image, "png", file.toFile());
    }

    private static void checkFonts() throws IOException {
        try {
            new Font(Font.SANS_SERIF, Font.PLAIN, 1).getFamily();
        } catch (RuntimeException | LinkageError | InternalError e) {
            throw noText(e);
        }
    }

    /** Java reports a missing font, and a library of the system that its native code needs, as the last of some causes. */
    static IOException noText(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return new IOException("Java cannot draw the text of a plot: "
            + Objects.requireNonNullElse(cause.getMessage(), cause.toString())
            + "; install the packages fontconfig and libharfbuzz0b", failure);
    }

    private static void draw(Graphics2D graphics, int width, int height, Consumer<Graphics2D> drawing) {
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, width, height);
        drawing.accept(graphics);
    }
}
