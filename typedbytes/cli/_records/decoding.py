"""What commands that make values refuse by default: text that is not UTF-8, and pickles, which are never run."""

import typedbytes
from typedbytes.cli._records.encoded import split
from typedbytes.errors import with_hint

# By the option of a Decoder, what accepts the same on a command line.
_ADVICE = {"unicode_errors": " (--unicode-errors surrogateescape accepts it)", "pickle": " (--pickle raw accepts it)"}


def is_refused_value(error):
    """Return whether an option accepts the value of a DecodeError: its bytes are known, its structure whole."""
    return error.option in _ADVICE


def name_option(error, is_damaged=False):
    """Have the message of a DecodeError name the option of the command that accepts what it is about.

    Not for text of an input whose structure is damaged elsewhere:
    the text is then more likely damaged than in another encoding.
    """
    if is_refused_value(error) and not (is_damaged and error.option == "unicode_errors"):
        with_hint(error, _ADVICE[error.option])
    return error


def decode_chunk(decode, records, nparts, dialect, nbytes, nrecords):
    """Yield what decode() makes of a chunk of whole records; one that fails raises after those before it.

    nbytes, nrecords: what is before the chunk in its input, for the error.
    """
    try:
        values = decode(records)
    except typedbytes.DecodeError:
        pass
    else:
        yield values
        return
    for record in split(records, nparts, dialect):
        try:
            values = decode(record)
        except typedbytes.DecodeError as error:
            name_option(error).offset += nbytes
            error.record = nrecords
            raise
        yield values
        nbytes += len(record)
        nrecords += 1
