package org.typedbytes.vectors;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Hand-made inputs, most of them malformed, from a table: a name, a TAB, and bytes in hexadecimal.
 *
 * <p>The bytes are pieces with blanks between them; {@code 09*5000} is the piece 5000 times.
 * Lines that are empty or start with {@code #} are passed over.
 */
final class Probes {
    private Probes() {}

    /** Prints one JSON line an input: what Hadoop's readers make of it. */
    static void print(Path table, PrintStream out) throws IOException {
        for (String line : Files.readAllLines(table)) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                String[] columns = line.split("\t", -1);
                Golden.print(out, columns[0], "probe", "null", parse(columns[1]));
            }
        }
    }

    private static byte[] parse(String pieces) {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        for (String piece : pieces.split(" ")) {
            String[] digitsAndCount = piece.split("\\*");
            byte[] bytes = Hex.parse(digitsAndCount[0]);
            int count = digitsAndCount.length == 1 ? 1 : Integer.parseInt(digitsAndCount[1]);
            for (int i = 0; i < count; i++) {
                data.writeBytes(bytes);
            }
        }
        return data.toByteArray();
    }
}
