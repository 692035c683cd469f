"""Write the pictures of the documents into docs/_static: the plot of the benchmark, diagrams, and a job's report.

    python docs/pictures.py

Here: what is drawn, from bench/results and from encoded values, in light and in dark. Not here: where a page shows it.
A test compares the files with what is drawn now. The site makes what is not kept: the dark files except that of the
README, and the report, whose times are new each time.
"""

import html
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "_static"
RECORD = ROOT / "bench" / "results" / "cpython-3.11.json"

THEMES = {
    "": {"back": "#ffffff", "text": "#24292f", "quiet": "#57606a", "line": "#d0d7de", "fill": "#eaeef2",
         "accent": "#c0392b", "blue": "#0b63b3", "green": "#1a7f37", "purple": "#7d3fb2", "grey": "#57606a"},
    "-dark": {"back": "#131416", "text": "#e6edf3", "quiet": "#a3adb8", "line": "#3d444d", "fill": "#23272e",
              "accent": "#ff7b6b", "blue": "#58a6ff", "green": "#4fc06a", "purple": "#c297ff", "grey": "#a3adb8"},
}  # fmt: skip

#: Of the plot: what is drawn of the record, and the libraries with their marks.
SHAPES = {
    "int64": "64-bit ints", "double": "doubles", "ascii_8": "ASCII text of 8", "text_1000": "other text of 1,000",
    "bytes_100": "100 bytes", "word_pairs": "(word, 1) pairs", "dict_5": "dicts of 5", "nested": "nested records",
}  # fmt: skip
LIBRARIES = {"typedbytes": "accent", "marshal": "grey", "msgspec": "blue", "msgpack": "green", "pickle": "purple"}
TICKS = (1, 2, 4, 8, 16)


class Drawing:
    """The elements of a picture in one theme."""

    def __init__(self, theme, width, height, title):
        self.theme = theme
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{html.escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="6" fill="{theme["back"]}"/>',
        ]

    def text(self, x, y, text, colour="text", anchor="start", more=""):
        """Write a text at a point of its base line."""
        self.parts.append(
            f'<text x="{x}" y="{y}" fill="{self.theme[colour]}" text-anchor="{anchor}"{more}>{html.escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour="line", arrow=False):
        """Draw a line, with a head at its end for an arrow to the side or down."""
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{self.theme[colour]}" stroke-width="1.2"/>'
        )
        if arrow:
            side = x2 - 7 if x2 > x1 else x2 + 7
            tip = f"{x2},{y2} {side},{y2 - 4} {side},{y2 + 4}" if y1 == y2 else (
                f"{x2},{y2} {x2 - 4},{y2 - 7} {x2 + 4},{y2 - 7}")  # fmt: skip
            self.parts.append(f'<polygon points="{tip}" fill="{self.theme[colour]}"/>')

    def box(self, x, y, width, height, lines, colour="fill", small=()):
        """Draw a box with centred lines of text, and smaller ones below."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{self.theme["fill"]}" '
            f'stroke="{self.theme[colour if colour != "fill" else "line"]}" stroke-width="1.2"/>'
        )
        top = y + height / 2 - 8 * (len(lines) + len(small) - 1) + 4.5
        for number, line in enumerate((*lines, *small)):
            is_small = number >= len(lines)
            self.text(
                x + width / 2, round(top + 16 * number, 1), line, "quiet" if is_small else "text", "middle",
                ' font-size="11"' if is_small else "",
            )  # fmt: skip

    def mark(self, x, y, library):
        """Draw the mark of a library: a diamond for this one, a circle for each other."""
        colour = self.theme[LIBRARIES[library]]
        if library == "typedbytes":
            points = f"{x},{y - 6} {x + 6},{y} {x},{y + 6} {x - 6},{y}"
            self.parts.append(f'<polygon points="{points}" fill="{colour}"/>')
        else:
            self.parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>')

    def end(self):
        """Return the file."""
        return "\n".join([*self.parts, "</svg>", ""])


def place(ratio):
    """Return where a ratio is on the logarithmic axis of the plot."""
    return round(160 + 86 * math.log2(ratio), 1)


def speed(theme):
    """Draw the times of each library as multiples of this one's, for decoding and encoding."""
    record = json.loads(RECORD.read_text())
    races = {(race["operation"], race["shape"]): race["entries"] for race in record["races"]}
    title = "Time of marshal, msgspec, msgpack and pickle 5 divided by that of typedbytes, for eight kinds of data"
    picture = Drawing(theme, 560, 482, title)
    for number, library in enumerate(LIBRARIES):
        x = 20 + number * 108
        picture.mark(x, 16, library)
        picture.text(x + 10, 20, "pickle 5" if library == "pickle" else library)
    for panel, operation in enumerate(("decode", "encode")):
        top = 56 + panel * 218
        picture.text(12, top - 10, operation, more=' font-weight="600"')
        for tick in TICKS:
            x = place(tick)
            picture.line(x, top, x, top + len(SHAPES) * 21)
            if panel:
                picture.text(x, top + len(SHAPES) * 21 + 16, f"{tick}×", "quiet", "middle")
        for row, (shape, label) in enumerate(SHAPES.items()):
            y = top + 12 + row * 21
            picture.text(12, y + 4, label)
            entries = races[operation, shape]
            for library in reversed(LIBRARIES):
                picture.mark(place(entries[library][0] / entries["typedbytes"][0]), y, library)
    environment = record["environment"]
    said = f"CPython {environment['python']}, {environment['vectors']}; make bench"
    picture.text(12, 474, f"CPU time / that of typedbytes, less is better. {said}", "quiet", more=' font-size="11"')
    return picture.end()


def cells(picture, x, y, fields, unit=1):
    """Draw fields side by side, each (width, text, what it is); return where they end."""
    for width, text, what in fields:
        picture.box(x, y, width * unit, 34, [text])
        picture.text(x + width * unit / 2, y + 50, what, "quiet", "middle", ' font-size="11"')
        x += width * unit
    return x


def record(theme):
    """Draw the bytes of a pair."""
    import typedbytes

    key, value = typedbytes.dumps("ann"), typedbytes.dumps(3)
    digits = (key + value).hex(" ").split()
    picture = Drawing(theme, 560, 116, "The pair of ann and 3: type code, length and text, then type code and number")
    picture.text(12, 22, 'the pair ("ann", 3): 13 bytes, no separator')
    x = cells(picture, 12, 40, [
        (48, digits[0], "STRING"), (130, " ".join(digits[1:5]), "its length"), (100, " ".join(digits[5:8]), '"ann"'),
    ])  # fmt: skip
    cells(picture, x + 16, 40, [(48, digits[8], "INT"), (130, " ".join(digits[9:13]), "3, big-endian")])
    picture.text(12, 110, "key", "accent", more=' font-size="11"')
    picture.text(x + 16, 110, "value", "accent", more=' font-size="11"')
    return picture.end()


def sequencefile(theme):
    """Draw the parts of a SequenceFile."""
    picture = Drawing(theme, 560, 236, "A SequenceFile: a header, then records with a sync marker about every 100 KB")
    row = [(200, "header", "classes, codec, metadata, marker"), (84, "record", ""), (84, "record", ""),
           (84, "marker", "20 bytes"), (84, "record", "")]  # fmt: skip
    picture.text(12, 20, "without compression, or each value compressed")
    cells(picture, 12, 30, row)
    picture.text(12, 108, "a record")
    cells(picture, 12, 118, [
        (100, "length", "4 bytes"), (120, "length of key", "4 bytes"), (140, "key", "a Writable"),
        (176, "value", "a Writable"),
    ])  # fmt: skip
    picture.text(12, 196, "compressed by blocks: after each marker the number of records, then")
    picture.text(12, 214, "four compressed parts: lengths of keys, keys, lengths of values, values")
    return picture.end()


def job(theme):
    """Draw how one script runs on each engine."""
    picture = Drawing(theme, 560, 300, "One script, started here, on Hadoop or on Spark, with the same output")
    picture.box(190, 8, 180, 40, ["job.py"], "accent", ["mapper, combiner, reducer"])
    engines = [
        (12, "typedbytes run", "this machine", "a process for each task"),
        (198, "typedbytes submit", "Hadoop", "Streaming, a bundle"),
        (384, "submit --engine spark", "Spark", "Python workers"),
    ]
    for x, command, name, how in engines:
        picture.line(x + 82, 62, x + 82, 82, "quiet", arrow=True)
        picture.box(x, 84, 164, 52, [name], "blue", [command, how])
        picture.line(x + 82, 136, x + 82, 156, "quiet", arrow=True)
    picture.line(280, 48, 280, 62, "quiet")
    picture.line(94, 62, 466, 62, "quiet")
    stages = [(12, "map"), (158, "combine"), (304, "sort by key"), (450, "reduce")]
    for x, name in stages:
        picture.box(x, 158, 98, 34, [name])
        if x < 450:
            picture.line(x + 98, 175, x + 146, 175, "quiet", arrow=True)
    picture.text(12, 214, "the same steps on each: partition by Hadoop's hash, order of the encoded keys",
                 "quiet", more=' font-size="11"')  # fmt: skip
    picture.line(280, 222, 280, 242, "quiet", arrow=True)
    picture.box(120, 244, 320, 44, ["part-00000, part-00001, ..., _SUCCESS"], "green", ["SequenceFiles of typed bytes"])
    return picture.end()


def split(theme):
    """Draw which records two splits of a file have."""
    picture = Drawing(theme, 560, 152, "A split has the records after the sync markers that start in it")
    picture.text(12, 18, "a SequenceFile of 256 MiB, cut at 128 MiB: no record is lost or read twice")
    x = 12
    for number, width in enumerate((40, 70, 70, 14, 70, 70, 70, 14, 60, 58)):
        name = {0: "head", 3: "", 7: ""}.get(number, "records")
        picture.box(x, 32, width, 34, [name] if name else [], "accent" if width == 14 else "fill", [])
        x += width
    picture.line(280, 26, 280, 98, "accent")
    picture.text(286, 96, "the cut", "accent", more=' font-size="11"')
    for start, end, name in ((12, 416, "split 1"), (416, 548, "split 2")):
        y = 118
        picture.line(start + 2, y, end - 2, y, "blue")
        picture.line(start + 2, y - 5, start + 2, y + 5, "blue")
        picture.line(end - 2, y - 5, end - 2, y + 5, "blue")
        picture.text((start + end) / 2, y + 20, name, "blue", "middle")
    picture.text(12, 84, "narrow: sync markers", "quiet", more=' font-size="11"')
    return picture.end()


def ring(theme):
    """Draw the two memories of a ring, and the socket for its bells."""
    picture = Drawing(theme, 560, 254, "A ring: each side writes to one memory and reads the other; bells on a socket")
    picture.box(12, 12, 84, 196, ["Python"], "accent")
    picture.box(464, 12, 84, 196, ["JVM"], "blue")
    for y, writer, colour, forward in ((12, "Python", "accent", True), (108, "the JVM", "blue", False)):
        picture.text(128, y + 12, f"memory that only {writer} writes to", "quiet", more=' font-size="11"')
        x = cells(picture, 128, y + 20, [(40, "tail", ""), (40, "head", ""), (40, "wait", "")])
        cells(picture, x, y + 20, [(46, "", ""), (82, "bytes", ""), (60, "", "")])
        for at, name in ((x + 46, "the other side's head"), (x + 128, "tail")):
            picture.line(at, y + 54, at, y + 64, colour)
            picture.text(at, y + 76, name, colour, "middle", ' font-size="11"')
        edges = ((96, 126), (436, 462)) if forward else ((464, 438), (128, 98))
        for start, end in edges:
            picture.line(start, y + 37, end, y + 37, "quiet", arrow=True)
    picture.line(12, 228, 548, 228, "green")
    picture.text(280, 246, "a socket: one byte as a bell, only where the other side sleeps (its wait is odd)", "green",
                 "middle", ' font-size="11"')  # fmt: skip
    for x in (54, 506):
        picture.line(x, 208, x, 228, "green")
    return picture.end()


PICTURES = {each.__name__: each for each in (speed, record, sequencefile, job, split, ring)}


def drawn():
    """Yield the name and the text of each file."""
    for name, draw in PICTURES.items():
        for suffix, theme in THEMES.items():
            yield f"{name}{suffix}.svg", draw(theme)


def report(path):
    """Count words in seven map and three reduce tasks, and write the report of this job."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(5000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    lines = [" ".join(chance.choices(words, weights, k=10)) + "\n" for _ in range(20_000)]
    with tempfile.TemporaryDirectory() as folder:
        book = pathlib.Path(folder, "book.txt")
        book.write_text("".join(lines))
        # in a process of its own, as this one has threads of libraries, and tasks are forked
        subprocess.run(
            [
                sys.executable, "-m", "typedbytes", "run", ROOT / "examples" / "wordcount.py", book,
                "-o", f"{folder}/counts", "-r", "3", "--split-size", str(book.stat().st_size // 7 + 10),
                "--processes", "2", "--report", path, "--quiet",
            ],
            check=True,
        )  # fmt: skip


def write():
    """Write all files."""
    for name, text in drawn():
        (FOLDER / name).write_text(text)
    report(FOLDER / "job-report.html")


if __name__ == "__main__":
    write()
