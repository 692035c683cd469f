package org.typedbytes.block;

/** Text that is a command: what a message asks for, as opposed to its data. */
public final class Command {
    private final String text;

    public Command(String text) {
        this.text = java.util.Objects.requireNonNull(text);
    }

    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Command && ((Command) other).text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}
