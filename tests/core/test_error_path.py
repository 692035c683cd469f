"""How the path of an error shows keys."""

import json

from hypothesis import example, given, strategies as st

import typedbytes as tb


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('"\\\b\f\n\r\t\x00\x1f\x7f\x80\U0001f600~ ')
def test_text_keys_are_shown_as_json_in_ascii(key):
    try:
        tb.dumps({key: object()})
    except tb.EncodeTypeError as error:
        assert error.path == f"[{json.dumps(key)}]"
    else:
        raise AssertionError("an object was encoded")
