package org.typedbytes.block;

/** The bytes of an Arrow IPC stream, for Arrow's own reader. */
public final class ArrowStream {
    /** The stream. */
    public final byte[] data;

    public ArrowStream(byte[] data) {
        this.data = data;
    }
}
