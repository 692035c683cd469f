package org.typedbytes.block;

import java.io.IOException;

/** A call that the other side could not answer; the connection goes on. */
public class CallException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The name of the exception there. */
    public final String kind;

    public CallException(String kind, String message) {
        super(kind + ": " + message);
        this.kind = kind;
    }
}
