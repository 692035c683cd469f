package org.typedbytes.block;

import java.nio.ByteBuffer;

/** CRC-32C, with eight tables: Java 8 has no implementation. */
final class Crc32c {
    private static final int[][] TABLES = new int[8][256];

    static {
        for (int value = 0; value < 256; value++) {
            int crc = value;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc >>> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
            }
            TABLES[0][value] = crc;
        }
        for (int value = 0; value < 256; value++) {
            for (int table = 1; table < 8; table++) {
                int before = TABLES[table - 1][value];
                TABLES[table][value] = (before >>> 8) ^ TABLES[0][before & 0xff];
            }
        }
    }

    private int state = ~0;

    int value() {
        return ~state;
    }

    void update(byte[] data, int offset, int length) {
        int crc = state;
        int at = offset;
        int left = length;
        for (; left >= 8; left -= 8, at += 8) {
            crc = TABLES[7][(crc ^ data[at]) & 0xff]
                ^ TABLES[6][((crc >>> 8) ^ data[at + 1]) & 0xff]
                ^ TABLES[5][((crc >>> 16) ^ data[at + 2]) & 0xff]
                ^ TABLES[4][((crc >>> 24) ^ data[at + 3]) & 0xff]
                ^ TABLES[3][data[at + 4] & 0xff]
                ^ TABLES[2][data[at + 5] & 0xff]
                ^ TABLES[1][data[at + 6] & 0xff]
                ^ TABLES[0][data[at + 7] & 0xff];
        }
        for (; left > 0; left--, at++) {
            crc = (crc >>> 8) ^ TABLES[0][(crc ^ data[at]) & 0xff];
        }
        state = crc;
    }

    /** Adds the bytes between two positions of a buffer, whose own position does not change. */
    void update(ByteBuffer buffer, int from, int to) {
        byte[] some = new byte[Math.min(to - from, 8192)];
        ByteBuffer view = buffer.duplicate();
        view.limit(to);
        view.position(from);
        while (view.hasRemaining()) {
            int length = Math.min(view.remaining(), some.length);
            view.get(some, 0, length);
            update(some, 0, length);
        }
    }
}
