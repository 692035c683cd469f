package org.typedbytes.block;

import java.io.IOException;

/** Malformed bytes, with their offset. */
public class BlockException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The offset of the error from the start of the input. */
    public final long offset;
    /** The index of the malformed value, or -1. */
    public final int entry;

    public BlockException(String message, long offset, int entry) {
        super(message + " at offset " + offset + (entry < 0 ? "" : ", value " + entry));
        this.offset = offset;
        this.entry = entry;
    }
}
