"""Commands between streams and lines of JSON: to-json and from-json. The form of a value is _json_form's matter."""

from typedbytes.cli._json_form import JsonFormError, dump_line, from_tree, load_line, to_tree
from typedbytes.cli._manners import BAD_DATA, Failure
from typedbytes.cli._parser import add_stream_arguments
from typedbytes.cli._streams import lines, records

to_json_arguments = add_stream_arguments


def to_json(options, output):
    """Write each value as one line of JSON, so that from-json gives back the same bytes.

    STRING, INT, BOOL, DOUBLE and LIST are plain JSON, a MAP is an object where that loses
    nothing, and everything else is an object with one member that names the type, such as
    {"bytes": "AAE="}. With --pairs a line is [key, value]. Pickles are not opened.

    examples:
      typedbytes to-json part-00000.tb | less
      typedbytes to-json --pairs < pairs.tb | jq -c '.[0]'
    """
    for record in records(options):
        if type(record) is tuple:
            tree = [to_tree(encoded, options.dialect) for encoded in record]
        else:
            tree = to_tree(record, options.dialect)
        output.line(dump_line(tree))


from_json_arguments = add_stream_arguments


def from_json(options, output):
    """Write the value that each line of JSON stands for; the inverse of to-json.

    Blank lines are passed over. With --pairs each line is an array of a key and a value. For
    --max-bytes a record is a line.

    examples:
      typedbytes to-json a.tb | sed s/colour/color/ | typedbytes from-json > b.tb
      echo '{"name": "x", "data": {"bytes": "AAE="}}' | typedbytes from-json | xxd
    """
    for place, line in lines(options):
        if line.isspace():
            continue
        try:
            output.write(_encoded(load_line(line), options))
        except JsonFormError as error:
            raise Failure(BAD_DATA, f"{place}: {error}") from None


def _encoded(tree, options):
    if not options.pairs:
        return from_tree(tree, options.dialect)
    if type(tree) is not list or len(tree) != 2:
        raise JsonFormError("a pair is an array of a key and a value")
    return b"".join(from_tree(each, options.dialect) for each in tree)
