"""The JSON form of a block message: an array of its values, or an object of these, its id and its reply flag.

json_form has the form of a value; what only messages have is an object of one of OUR_TAGS.
"""

import base64
import binascii

from typedbytes import dumps, loads
from typedbytes.block import ArrowStream, Command
from typedbytes.block._native import array_view, element_name
from typedbytes.cli._forms.json_form import JsonFormError, from_tree, to_tree

OUR_TAGS = ("command", "array", "arrow")


def values_from_json(tree):
    """Return the values of a message, and its id and reply flag."""
    head = {}
    if type(tree) is dict:
        if not {"args"} <= set(tree) <= {"id", "reply", "args"}:
            raise JsonFormError('expected an array, or an object of "args", "id" and "reply"')
        head = {"id": tree.get("id", 0), "reply": tree.get("reply", False)}
        if type(head["id"]) is not int or type(head["reply"]) is not bool:
            raise JsonFormError("expected a number as id, and true or false as reply")
        tree = tree["args"]
    if type(tree) is not list:
        raise JsonFormError("expected an array of the values of a message")
    return [_from_json(each) for each in tree], head


def _from_json(tree):
    """Return the value of a tree."""
    tag = next((name for name in OUR_TAGS if type(tree) is dict and name in tree), None)
    if tag == "command" and len(tree) == 1 and type(tree["command"]) is str:
        return Command(tree["command"])
    if tag == "arrow" and len(tree) == 1:
        return ArrowStream(_from_base64(tree["arrow"]))
    if tag == "array" and set(tree) == {"array", "shape", "data"}:
        try:
            return array_view(tree["array"], tree["shape"], _from_base64(tree["data"]))
        except (TypeError, ValueError) as error:
            raise JsonFormError(f"not an array: {error}") from None
    return None if tree is None else loads(from_tree(tree), exact=True)


def json_of(value):
    """Return the tree of a value."""
    if isinstance(value, Command):
        return {"command": str(value)}
    if isinstance(value, ArrowStream):
        return {"arrow": _base64(value.data)}
    if isinstance(value, memoryview):
        return {"array": element_name(value), "shape": list(value.shape or ()), "data": _base64(value.tobytes())}
    tree = None if value is None else to_tree(dumps(value))
    if type(tree) is dict and any(name in tree for name in OUR_TAGS):
        return {"map": [[key, item] for key, item in tree.items()]}
    return tree


def _base64(data):
    return base64.b64encode(data).decode("ascii")


def _from_base64(text):
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, binascii.Error):
        raise JsonFormError("expected bytes in base64") from None
