package org.typedbytes.block;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Loads and stores of 64-bit words in memory that two processes share, in an order that both see. By reflection,
 * because the module is compiled for Java 8, whose own means for this later versions take away; the handles are
 * constants, so a call is compiled to one instruction.
 */
final class SharedWords {
    private static final MethodHandle LOAD;
    private static final MethodHandle STORE;
    private static final MethodHandle FENCE;
    private static final MethodHandle PAUSE;

    static {
        MethodHandle[] found = {null, null, null, null};
        try {
            Class<?> varHandle = Class.forName("java.lang.invoke.VarHandle");
            Object view = MethodHandles.class.getMethod("byteBufferViewVarHandle", Class.class, ByteOrder.class)
                    .invoke(null, long[].class, ByteOrder.LITTLE_ENDIAN);
            Class<?> mode = Class.forName("java.lang.invoke.VarHandle$AccessMode");
            Method handle = varHandle.getMethod("toMethodHandle", mode);
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            MethodType nothing = MethodType.methodType(void.class);
            found = new MethodHandle[] {
                (MethodHandle) handle.invoke(view, mode.getField("GET_ACQUIRE").get(null)),
                (MethodHandle) handle.invoke(view, mode.getField("SET_RELEASE").get(null)),
                lookup.findStatic(varHandle, "fullFence", nothing),
                lookup.findStatic(Thread.class, "onSpinWait", nothing),
            };
        } catch (ReflectiveOperationException error) {
            // Java 8.
        }
        LOAD = found[0];
        STORE = found[1];
        FENCE = found[2];
        PAUSE = found[3];
    }

    private SharedWords() {
    }

    /** Whether this virtual machine has such loads and stores: from Java 9 on. */
    static boolean areSupported() {
        return LOAD != null;
    }

    /** No later load or store of this thread is seen before it. */
    static long load(ByteBuffer memory, int offset) {
        try {
            return (long) LOAD.invokeExact(memory, offset);
        } catch (Throwable error) {
            throw rethrown(error);
        }
    }

    /** No earlier load or store of this thread is seen after it. */
    static void store(ByteBuffer memory, int offset, long value) {
        try {
            STORE.invokeExact(memory, offset, value);
        } catch (Throwable error) {
            throw rethrown(error);
        }
    }

    /** Earlier stores of this thread are seen before its later loads. */
    static void fence() {
        try {
            FENCE.invokeExact();
        } catch (Throwable error) {
            throw rethrown(error);
        }
    }

    /** Says to the processor that this thread waits for a change. */
    static void pause() {
        try {
            PAUSE.invokeExact();
        } catch (Throwable error) {
            throw rethrown(error);
        }
    }

    /** Loads and stores throw no checked exception; an InternalError, for a page that is gone, goes on. */
    private static RuntimeException rethrown(Throwable error) {
        if (error instanceof Error) {
            throw (Error) error;
        }
        return error instanceof RuntimeException ? (RuntimeException) error : new IllegalStateException(error);
    }
}
