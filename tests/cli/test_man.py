"""The command man."""

from support.commands import good


def test_man_page():
    text = good("man").decode()
    assert text.startswith(".TH TYPEDBYTES 1")
    for word in (".SS head", "\\-\\-max\\-bytes", "typedbytes cat part", ".B 141", "NO_COLOR"):
        assert word in text
    assert not any(line.startswith("'") for line in text.splitlines())
