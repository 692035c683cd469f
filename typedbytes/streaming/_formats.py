"""The formats by name: an input or an output over the task's descriptors.

An input has pairs(), groups(), failure(), key_bytes(key), .record and .offset; an output has
writes(pairs), close() and .record. Each format is imported only by a task that speaks it.
"""

from typedbytes.streaming import _task


def open_input(role, source, environ, options):
    """Return the input of a role, in the format the environment names."""
    format_name = _task.find_format(role, "input", environ)
    if format_name == "typedbytes":
        from typedbytes.streaming._typed import TypedBytesInput

        return TypedBytesInput(source, options)
    if format_name == "rawbytes":
        from typedbytes.streaming._rawbytes import RawBytesInput

        return RawBytesInput(source)
    from typedbytes.streaming._text import TextInput

    if not _task.has_text_keys(role, environ):
        return TextInput(source)
    separator = _task.find_separator(role, "input", environ)
    return TextInput(source, separator, _task.count_key_fields(role, environ))


def open_output(role, sink, environ, options):
    """Return the output of a role, in the format the environment names."""
    format_name = _task.find_format(role, "output", environ)
    if format_name == "typedbytes":
        from typedbytes.streaming._typed import open_output

        return open_output(sink, options)
    if format_name == "rawbytes":
        from typedbytes.streaming._rawbytes import RawBytesOutput

        return RawBytesOutput(sink)
    from typedbytes.streaming._text import TextOutput

    return TextOutput(sink, _task.find_separator(role, "output", environ))
