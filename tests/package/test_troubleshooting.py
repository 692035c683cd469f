"""Every message that docs/troubleshooting.md explains is in the sources as it is quoted."""

import pathlib
import re

import pytest

import typedbytes

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
ROWS = re.findall(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", PAGE, re.M)


def strings_of(path):
    """Return the text of a source; strings that continue on the next line are joined."""
    return re.sub(r'"\s*\n\s*f?"', "", path.read_text()).replace('\\"', '"')


SOURCES = (
    "\n".join(
        strings_of(path)
        for folder in (ROOT / "src/typedbytes", pathlib.Path(typedbytes.__file__).parent)
        for path in sorted(folder.rglob("*.p*"))
        if path.suffix in (".py", ".pyx", ".pxi")
    )
    + (ROOT / "setup.py").read_text()
)


def test_the_page_has_messages_of_every_kind():
    assert len(ROWS) > 35
    assert PAGE.count("| message | cause | what to do |") == 5


@pytest.mark.parametrize("message", ROWS)
def test_message_is_in_the_sources(message):
    pattern = r"[^\n]{0,80}?".join(re.escape(part) for part in message.split("..."))
    assert re.search(pattern, SOURCES)
