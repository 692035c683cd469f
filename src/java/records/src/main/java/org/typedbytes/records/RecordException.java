package org.typedbytes.records;

import java.io.IOException;

/** Bytes that do not fit a type, or a value that cannot be written. */
public final class RecordException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final long offset;
    private String path = "";

    RecordException(String problem, long offset, Throwable cause) {
        super(problem, cause);
        this.problem = problem;
        this.offset = offset;
    }

    /**
     * The offset of the type code of the value that does not fit, in the array or buffer that is read; -1 where a value
     * is written.
     */
    public long offset() {
        return offset;
    }

    /**
     * Where that value is inside the one that is read or written, such as {@code [3].visits[0].price}; empty: it is
     * that one itself.
     */
    public String path() {
        return path;
    }

    @Override
    public String getMessage() {
        String where = path.length() <= 120 ? path : path.substring(0, 60) + "..." + path.substring(path.length() - 50);
        String step = path.isEmpty() ? "" : offset < 0 ? ", at " : ", path ";
        return problem + (offset < 0 ? "" : " at offset " + offset) + step + where;
    }

    RecordException within(String step) {
        path = step + path;
        return this;
    }
}
