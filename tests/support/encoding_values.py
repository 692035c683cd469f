"""Objects to encode that several test files of the encoder share."""

import collections

import typedbytes as tb

ONE = tb.dumps(1)


class List(list):
    """Be a list that iterates over something else and is of another length."""

    def __iter__(self):
        return iter("other")

    def __len__(self):
        return 99

    def __getitem__(self, index):
        return "other"


class Lying(dict):
    """Give as items what the test says."""

    def __init__(self, items):
        super().__init__(a=1)
        self.said = items

    def items(self):
        return self.said


def nested(depth, kind):
    """Return containers of a kind within one another."""
    value = {"list": [], "tuple": (), "dict": {}, "subclass": List(), "OrderedDict": collections.OrderedDict()}[kind]
    for _ in range(depth - 1):
        value = {
            "list": [value],
            "tuple": (value,),
            "dict": {"k": value},
            "subclass": List([value]),
            "OrderedDict": collections.OrderedDict(k=value),
        }[kind]
    return value
