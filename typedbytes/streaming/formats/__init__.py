"""The formats by name: an input or an output over the task's descriptors.

An input has pairs(), groups(), failure(), check_end(), item_bytes(item), .record and .offset (one of columns:
batches(), whole_groups(), failure(), check_end(), .record and .offset), and for records that may be bad raw_pairs(),
decode_key(item), decode_value(item) and packed(key, value); an output has writes(pairs), encoded(pair),
check(key, value), then write_encoded(records) or drop_encoded() for what was encoded and checked, close() and .record.
Each format is imported only by a task that speaks it.
"""

from __future__ import annotations

from typedbytes.streaming.task_environment import (
    count_key_fields,
    find_by_key,
    find_key_ends,
    find_output,
    find_parsed,
    find_separator,
    has_text_keys,
    is_last,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typedbytes.streaming.formats.secondary_sort import CompositeKeys


def open_files(
    input_format: str, output_format: str, source: Any, sink: Any, environ: Mapping[str, str]
) -> tuple[Any, Any]:
    """Return what records are read from and written to: descriptors, or the typed bytes of a whole split."""
    if "split" in (input_format, output_format):
        from typedbytes import sequencefile
        from typedbytes._base.pipes import enlarge_pipe
        from typedbytes.streaming.formats.splits import SequenceFileSink, compression_of, open_split

        for pipe in (source, sink):  # a tenth of a task's wall time, where it does little else
            enlarge_pipe(pipe)
        source = open_split(source, environ) if input_format == "split" else source
        if output_format == "split":
            sink = SequenceFileSink(sequencefile.Writer(sink, **compression_of(environ)))
    return source, sink


def open_columns(
    output_format: str, files: tuple[Any, Any], role: str, environ: Mapping[str, str], options: Any
) -> tuple[Any, Any]:
    """Return the input and the output of a job on columns: typed bytes, or what is parsed or the last output.

    files: what is read and written. options: those of the job.
    """
    source, sink = files
    from typedbytes.streaming.formats.columnar import ColumnsAsPairs, ColumnsInput, ColumnsOutput

    reading, parsed = options.read_options, find_parsed(role, environ)
    if parsed == "json" or (parsed and "value_type" in reading):
        from typedbytes.streaming.formats.parsed import ParsedPairs

        source, reading = ParsedPairs(parsed, source, reading), ParsedPairs.columns_options(reading)
    input = ColumnsInput(source, reading)
    form = (find_by_key(environ) or find_output(environ)) if is_last(role, environ) else None
    if form == "parquet" and not find_by_key(environ):
        from typedbytes.streaming.formats.parquet import ParquetOutput

        return input, ParquetOutput(sink, options.write_options, reading)
    if form or output_format not in ("typedbytes", "split"):
        output = open_output(output_format, sink, role, environ, options.write_options)
        rows = form in ("json", "csv") and not find_by_key(environ)
        return input, ColumnsAsPairs(output, options.column_options, reading, rows)
    return input, ColumnsOutput(sink, options.write_options, options.column_options)


def open_input(
    format_name: str,
    source: Any,
    role: str,
    environ: Mapping[str, str],
    options: Mapping[str, Any],
    undecoded: bool = False,
    composite_keys: CompositeKeys | None = None,
) -> Any:
    """Return the input of a role; options are those of PairReader, for typed bytes.

    undecoded: its raw_pairs() are bytes, and decode_key() and decode_value() decode each by itself.
    composite_keys: the form of the keys between map and reduce.
    """
    if composite_keys is not None and role != "map":
        from typedbytes.streaming.formats.secondary_sort import CompositeKeyInput

        return CompositeKeyInput(source, options, composite_keys)
    form = find_parsed(role, environ)
    if form and format_name in ("typedbytes", "split"):
        from typedbytes.streaming.formats.parsed import ParsedInput

        return ParsedInput(form, source, options, undecoded)
    if format_name == "split" and not (undecoded or options):
        from typedbytes.streaming.formats.splits import SplitInput, holds_objects

        if holds_objects(source, environ):
            return SplitInput(source)
    if format_name in ("typedbytes", "split"):
        from typedbytes.streaming.formats.typed_bytes import TypedBytesInput, UndecodedInput

        return (UndecodedInput if undecoded else TypedBytesInput)(source, options)
    if format_name == "rawbytes":
        from typedbytes.streaming.formats.raw_bytes import RawBytesInput

        return RawBytesInput(source)
    from typedbytes.streaming.formats.text import TextInput

    if not has_text_keys(role, environ):
        return TextInput(source, raw=undecoded)
    return TextInput(source, find_separator(role, "input", environ), count_key_fields(role, environ), undecoded)


def open_output(
    format_name: str,
    sink: Any,
    role: str,
    environ: Mapping[str, str],
    options: Mapping[str, Any],
    composite_keys: CompositeKeys | None = None,
    has_reducer: bool = False,
) -> Any:
    """Return the output of a role.

    options: of PairWriter, for typed bytes. has_reducer: whether the job has one.
    """
    if composite_keys is not None and role != "reduce":
        from typedbytes.streaming.formats.secondary_sort import CompositeKeyOutput

        return CompositeKeyOutput(sink, options, composite_keys)
    if is_last(role, environ):
        by_key, form = find_by_key(environ), find_output(environ)
        if by_key:
            from typedbytes.streaming.formats.by_key import ByKeyOutput

            return ByKeyOutput(by_key, options, environ)
        if form:
            return output_of_form(form, sink, options)
    if format_name == "rawbytes":
        from typedbytes.streaming.formats.raw_bytes import RawBytesOutput

        return RawBytesOutput(sink)
    separator = find_separator(role, "output", environ)
    return output_of_form(format_name, sink, options, separator, find_key_ends(role, environ, has_reducer))


def output_of_form(form: str, sink: Any, options: Mapping[str, Any], separator: bytes = b"", key_ends: Any = ()) -> Any:
    """Return the output of pairs in a form; options are those of PairWriter, separator and key_ends those of text."""
    if form == "values":
        from typedbytes.streaming.formats.values import ValuesOutput

        return ValuesOutput(sink)
    if form in ("json", "csv"):
        from typedbytes.streaming.formats.rows import CsvOutput, JsonOutput

        return (JsonOutput if form == "json" else CsvOutput)(sink, options)
    if form == "parquet":
        from typedbytes.streaming.formats.parquet import ParquetOutput

        return ParquetOutput(sink, options)
    if form == "text":
        from typedbytes.streaming.formats.text import TextOutput

        return TextOutput(sink, separator, key_ends)
    from typedbytes.streaming.formats.typed_bytes import TypedBytesOutput

    return TypedBytesOutput(sink, options)
