"""Commands that copy encoded records: cat and head. No value is made of them, but their structure is checked."""

from itertools import islice

from typedbytes.cli._parser import add_stream_arguments, natural
from typedbytes.cli._streams import records

cat_arguments = add_stream_arguments


def cat(options, output):
    """Copy the records of all inputs to stdout, byte for byte.

    Only whole records are copied. At damage the records before it are written, the message
    tells the place, and the exit code is 65. Of a SequenceFile the pairs come as typed bytes.

    examples:
      typedbytes cat part-0*.tb > all.tb
      typedbytes cat --pairs part-00000.tb | typedbytes count --pairs
    """
    _copy(records(options), output)


def head_arguments(parser):
    """Declare the arguments of head."""
    add_stream_arguments(parser)
    parser.add_argument("-n", type=natural, default=10, metavar="N", dest="nrecords", help="how many records (10)")


def head(options, output):
    """Copy the first records to stdout, byte for byte.

    What comes after them is not looked at.

    examples:
      typedbytes head -n 3 part-00000.tb | typedbytes to-json
      typedbytes head --pairs < pairs.tb > ten.tb
    """
    _copy(islice(records(options), options.nrecords), output)


def _copy(encoded, output):
    write = output.write
    for record in encoded:
        write(b"".join(record) if type(record) is tuple else record)
