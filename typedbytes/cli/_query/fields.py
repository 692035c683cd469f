"""Paths to the parts of a record, as options give them: key, value[0], value['name'] or value.name.

What is not on the path is not decoded.
"""

import re
from ast import literal_eval

import typedbytes
from typedbytes import TypeCode
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._records.encoded import split

STEP = (
    r"""(?:\[(?:0|-?[1-9]\d{0,8}|'(?:[^'\\]|\\[\\'"nrtxuU])*'|"(?:[^"\\]|\\[\\'"nrtxuU])*")\]"""
    r"""|\.(?:0|[1-9]\d{0,8}|[^\W\d]\w*))"""
)


class Fields:
    """Find the values at the paths of an option; with null, a value that a record lacks is a null."""

    def __init__(self, paths, option, dialect, null=False):
        self._option = option
        self._paths = [(path, *_parsed(path, option)) for path in paths]
        self._dialect = dialect
        self._null = typedbytes.Encoder(dialect=dialect).encode(None) if null else None
        self._decoder = typedbytes.Decoder(dialect=dialect, unicode_errors="surrogateescape")

    def check(self, pairs):
        """Raise Failure if values are asked for a key."""
        if not pairs and any(part == "key" for _, part, _ in self._paths):
            raise Failure(USAGE, f"argument {self._option}: values have no key (see --pairs)")

    def of(self, record):
        """Return the encoded fields of a record; raise LookupError with the first path that it lacks."""
        found = [self._field(record, *each) for each in self._paths]
        if len(found) == 1:
            return found[0]
        return b"".join([bytes([TypeCode.VECTOR]), len(found).to_bytes(4, "big"), *found])

    def _field(self, record, path, part, steps):
        value = record if type(record) is not tuple else record[part == "value"]
        for step in steps:
            value = self._inside(value, step)
            if value is None:
                break
        if value is None and self._null is None:
            raise LookupError(path)
        return self._null if value is None else value

    def _inside(self, value, step):
        """Return the encoded item of a VECTOR or LIST, or the value of a MAP for a key; None if there is none."""
        if value[0] in (TypeCode.VECTOR, TypeCode.LIST) and type(step) is int:
            items = list(split(value[5:] if value[0] == TypeCode.VECTOR else value[1:-1], 1, self._dialect))
            return items[step] if -len(items) <= step < len(items) else None
        if value[0] == TypeCode.MAP:
            return self._inside_map(value[5:], step)
        return None

    def _inside_map(self, pairs, key):
        """Return what decoding gives for a key: the last of the values whose keys are equal, like 1 and True."""
        starts = [*typedbytes.index(pairs, dialect=self._dialect), len(pairs)]
        for start, middle, end in zip(starts[-3::-2], starts[-2::-2], starts[-1::-2]):
            if self._is_key(pairs[start:middle], key):
                return pairs[middle:end]
        return None

    def _is_key(self, encoded, key):
        try:
            return self._decoder.decode(encoded) in {key}
        except (typedbytes.DecodeError, TypeError):  # TypeError: what decoding refuses as a key, such as a LIST
            return False


def _parsed(path, option):
    """Return "key" or "value", and the steps from there."""
    try:
        if path and re.fullmatch(f"(?:key|value)?(?:{STEP})*", path):
            return "key" if path.startswith("key") else "value", [_step(step) for step in re.findall(STEP, path)]
    except SyntaxError:  # an escape without its digits
        pass
    raise Failure(USAGE, f"argument {option}: expected a path such as key, value[0] or value.name, not {path!r}")


def _step(step):
    """Return the index or the key that a step of a path gives."""
    return literal_eval(step)[0] if step[0] == "[" else int(step[1:]) if step[1:].isdigit() else step[1:]
