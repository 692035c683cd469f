"""The report of a job as its reader has it: parsed by Python's own parser of HTML, and checked to be whole."""

from html.parser import HTMLParser

VOID = {"meta"}


class Page(HTMLParser):
    """A page: its elements, each as a name and attributes, and the text of each section by its heading."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.sections = {}
        self._open = []
        self._texts = []
        self._before = ""
        self.feed(text)
        self.close()
        assert self._open == [] and text.startswith("<!DOCTYPE html>\n")
        self._check_alone(text)

    def _check_alone(self, text):
        """Check that nothing of the page runs, and that nothing is loaded."""
        names = {name for name, _ in self.elements}
        assert not names & {"script", "img", "iframe", "link", "object", "embed", "a", "form", "b"}, names
        for _, attributes in self.elements:
            assert not {"src", "href", "xlink:href", "action"} & attributes.keys()
            assert not [name for name in attributes if name.startswith("on")]
        (style,) = (data for name, data in self._texts if name == "style")
        assert "url(" not in style and "@import" not in style

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        within = self._open[-1] if self._open else ""
        self._texts.append((within, data))
        if within in ("h1", "h3"):
            self._before = data if within == "h3" else ""
        if within and within != "style":
            self.sections.setdefault(self._before, []).append(data)

    def texts(self, name):
        """Return the texts of the elements of a name."""
        return [data for within, data in self._texts if within == name]

    def bars(self, kind):
        """Return how many bars of a kind the charts have, besides that of the legend."""
        bars = [attributes["class"] for name, attributes in self.elements if name == "rect"]
        return bars.count(kind) - (kind in self.legend)

    @property
    def legend(self):
        """The kinds of tasks in the legend of the timeline."""
        there = self.sections.get("Tasks over time", [])
        kinds = {"map": "map", "its combiner": "combine", "reduce": "reduce", "failed": "failed", "stopped": "stopped"}
        return {kinds[text] for text in there if text in kinds}


def read_page(path):
    """Return the page in a file."""
    return Page(path.read_text(encoding="utf-8"))
