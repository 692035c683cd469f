"""Commands between streams and lines of JSON: to-json and from-json. The form of a value is _json_form's and _json's matter."""

from typedbytes.cli._parser import add_file_arguments, add_output_argument, add_stream_arguments
from typedbytes.cli._inputs import lines


def to_json_arguments(parser):
    """Declare the arguments of to-json."""
    add_stream_arguments(parser)
    add_output_argument(parser)
    parser.add_argument("--plain", action="store_true", help="natural JSON, which loses types and has no way back")


def to_json(options, output):
    """Write each value as one line of JSON, so that from-json gives back the same bytes.

    STRING, INT, BOOL, DOUBLE and LIST are plain JSON, a MAP is an object where that loses
    nothing, and everything else is an object with one member that names the type, such as
    {"bytes": "AAE="}. With --pairs a line is [key, value]. Pickles are not opened.

    examples:
      typedbytes to-json part-00000.tb | less
      typedbytes to-json --pairs < pairs.tb | jq -c '.[0]'
      typedbytes to-json --plain logs.tb | mlr --ijsonl --opprint head
    """
    from typedbytes.cli.commands.sample import cat  # its users only

    options.to = "json"
    return cat(options, output)


def from_json_arguments(parser):
    """Declare the arguments of from-json."""
    add_file_arguments(parser)
    add_output_argument(parser)
    parser.add_argument("--plain", action="store_true", help="natural JSON: every object is a MAP, none names a type")


def from_json(options, output):
    """Write the value that each line of JSON stands for; the inverse of to-json.

    Blank lines are passed over. With --pairs each line is an array of a key and a value. For
    --max-bytes a record is a line.

    examples:
      typedbytes to-json a.tb | sed s/colour/color/ | typedbytes from-json > b.tb
      echo '{"name": "x", "data": {"bytes": "AAE="}}' | typedbytes from-json | xxd
    """
    from typedbytes.cli._json_form import encoded_lines  # its users only

    for record in encoded_lines(lines(options), options.pairs, options.dialect, options.plain):
        output.write(record)
