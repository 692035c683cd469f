package org.typedbytes.block;

/** The layouts of a message: six of wire 0, and the native message of wire 1. docs/block-format.md is the specification. */
public enum Wire {
    /** Lines of text, bytes in base64. */
    LINE,
    /** A length before every value, numbers as text. */
    BLOCK,
    /** Numbers in their own width. The usual one. */
    BYTES,
    /** As {@link #BYTES}, with types of one byte. */
    TYPE8,
    /** As {@link #BYTES}, behind the number of bytes that follow. */
    TOTAL,
    /** All types and lengths before all values. */
    HEADER,
    /** Wire 1: versioned, 64-bit, aligned, with ids. */
    NATIVE
}
