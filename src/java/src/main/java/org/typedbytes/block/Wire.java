package org.typedbytes.block;

/** The layouts of a message: six legacy layouts, and the native format. docs/block-format.md is the specification. */
public enum Wire {
    /** Lines of text, bytes in base64. */
    LINE,
    /** A length before every value, numbers as text. */
    BLOCK,
    /** Numbers in binary. The default of the Python side. */
    BYTES,
    /** As {@link #BYTES}, with types of one byte. */
    TYPE8,
    /** As {@link #BYTES}, preceded by the number of bytes that follow. */
    TOTAL,
    /** All types and lengths before all values, numbers in binary. */
    HEADER,
    /** The native format: versioned, 64-bit, aligned, with ids. */
    NATIVE
}
