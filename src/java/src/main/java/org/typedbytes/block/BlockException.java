package org.typedbytes.block;

import java.io.IOException;

/** Bytes that break the rules of their wire, with the place. */
public class BlockException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Bytes from the start of the input to the fault. */
    public final long offset;
    /** The index of the value at fault, -1: none is. */
    public final int entry;

    public BlockException(String message, long offset, int entry) {
        super(message + " at offset " + offset + (entry < 0 ? "" : ", value " + entry));
        this.offset = offset;
        this.entry = entry;
    }
}
