"""How commands that make values of records decode: text that is not UTF-8, and pickles, which no command ever runs."""


def decoder_options(options):
    """Return the options of a Decoder that the options of a command mean."""
    return {
        "dialect": options.dialect,
        "pickle": getattr(options, "pickle", "safe"),
        "unicode_errors": getattr(options, "unicode_errors", "strict"),
    }


def name_option(error):
    """Have the message of a DecodeError name the option of the command that accepts what it is about."""
    if " is not UTF-8: " in error.message:
        error.message += " (--unicode-errors surrogateescape accepts it)"
    elif "; pass pickle=" in error.message:
        error.message = error.message.partition("; pass pickle=")[0] + " (--pickle raw accepts it)"
    return error
