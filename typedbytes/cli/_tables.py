"""What every conversion to Arrow and Parquet uses: the writer of a file, and errors of pyarrow as Failures."""

from __future__ import annotations

from contextlib import contextmanager

import typedbytes
from typedbytes import columns
from typedbytes.cli._failure import BAD_DATA, UNAVAILABLE, Failure
from typedbytes.cli._inputs import display_name


def imported_pyarrow():
    """Return the module pyarrow; raise Failure if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise Failure(UNAVAILABLE, "arrow and parquet need the library pyarrow: pip install pyarrow") from None
    return pyarrow


def table_writer(sink, schema, options):
    """Return a writer of record batches of a schema, in the format of --to."""
    pyarrow = imported_pyarrow()
    if options.to == "arrow":
        return pyarrow.ipc.new_stream(sink, schema)
    return pyarrow.parquet.ParquetWriter(sink, schema, compression=options.codec or "none")


@contextmanager
def as_data_failure(name):
    """Turn errors of pyarrow, and of records that are not columns, into a Failure that names the input."""
    pyarrow = imported_pyarrow()
    try:
        yield
    except columns.MismatchError as error:
        error.message = error.message.partition(" (on_mismatch")[0] + ","  # no option of this command
        raise
    except (typedbytes.DecodeError, MemoryError):
        raise  # reported as everywhere; pyarrow's MemoryError is also an ArrowException
    except (pyarrow.ArrowException, typedbytes.EncodeError, ValueError) as error:
        # A plain ValueError: the name of a column is not UTF-8, or a Parquet file has a second schema.
        message = str(error).replace("pass nulls=... to say what to write", "--dialect hive writes NULL for it")
        raise Failure(BAD_DATA, f"{display_name(name)}: {message}") from None
