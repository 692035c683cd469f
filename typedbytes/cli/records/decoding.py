"""What commands that make values of records refuse by default: text that is not UTF-8, and pickles, which no command ever runs."""

_TEXT = ("STRING is not UTF-8: ", "Text is not UTF-8: ")
_PICKLE = "; pass pickle="


def is_refused_value(error):
    """Return whether a DecodeError is about a value that an option accepts: its bytes are known, and the structure is whole."""
    return error.message.startswith(_TEXT) or _PICKLE in error.message


def name_option(error, is_damaged=False):
    """Have the message of a DecodeError name the option of the command that accepts what it is about.

    Not for text of an input whose structure is damaged elsewhere: the text is then more likely damaged than in another encoding.
    """
    if error.message.startswith(_TEXT) and not is_damaged:
        error.message += " (--unicode-errors surrogateescape accepts it)"
    elif _PICKLE in error.message:
        error.message = error.message.partition(_PICKLE)[0] + " (--pickle raw accepts it)"
    return error
