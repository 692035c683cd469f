"""A record as plots.

Here: how the numbers are drawn. Not here: how anything is measured.
"""

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot  # noqa: E402

import goals  # noqa: E402
from tables import yardstick  # noqa: E402

#: What makes an SVG the same in every run.
STABLE = {"svg.hashsalt": "typedbytes", "svg.fonttype": "none"}
OURS, YARDSTICK, GRID = "#c0392b", "#2c3e50", "#dddddd"
COLOURS = {
    "typedbytes": OURS, "typedbytes stream": "#e59866", "marshal": YARDSTICK, "msgspec": "#2980b9",
    "msgspec typed": "#85c1e9", "ormsgpack": "#8e44ad", "msgpack": "#27ae60", "pickle": "#7f8c8d", "cbor2": "#d4ac0d",
    "orjson": "#16a085",
}  # fmt: skip
FILTER_COLOURS = {
    "typedbytes": OURS, "typedbytes bulk": "#e59866", "typedbytes copy": "#f5cba7", "marshal": YARDSTICK,
    "older": "#7f8c8d",
}  # fmt: skip


def write(results, path):
    """Write the plots of a record beside its page at `path`."""
    with pyplot.rc_context(STABLE):
        if any(race["operation"] == "decode" for race in results["races"]):
            save(objects(results), path, "objects")
        seconds = goals.filter_seconds(results)
        if seconds:
            save(filters(seconds), path, "filters")


def save(figure, path, name):
    """Write a figure beside the page at `path`."""
    figure.savefig(path.with_name(f"{path.stem}-{name}.svg"), metadata={"Title": f"{path.stem}: {name}", "Date": None})
    pyplot.close(figure)


def objects(results):
    """Draw, for each shape, everyone's time as a part of the better yardstick's: further left is faster."""
    figure, axes = pyplot.subplots(1, 2, figsize=(13, 8), sharey=True, layout="constrained")
    for axis, operation in zip(axes, ("decode", "encode")):
        races = [
            race for race in results["races"] if race["operation"] == operation and not race["shape"].endswith(" large")
        ]
        draw_ratios(axis, races[::-1])
        axis.set_title(operation)
        axis.set_xlabel("time / better of marshal and msgspec")
    axes[1].legend(*axes[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def draw_ratios(axis, races):
    """Draw a line for each race and a mark for each contender, but for those off the scale."""
    axis.axvline(1, color=YARDSTICK, linewidth=0.8)
    for name, colour in COLOURS.items():
        rows = [row for row, race in enumerate(races) if name in race["entries"]]
        ratios = [races[row]["entries"][name]["ns"] / yardstick(races[row]) for row in rows]
        size, marker, zorder = (70, "D", 3) if name == "typedbytes" else (28, "o", 2)
        axis.scatter(ratios, rows, color=colour, label=name, s=size, marker=marker, zorder=zorder)
    axis.set_xscale("log", base=2)
    axis.set_xlim(1 / 16, 16)
    axis.set_xticks([2**power for power in range(-4, 5)])
    axis.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
    axis.set_yticks(range(len(races)), [race["shape"] for race in races])
    axis.grid(color=GRID, linewidth=0.6)


def filters(seconds):
    """Draw, for each file, the CPU time of each filter as a part of the marshal filter's."""
    figure, axis = pyplot.subplots(figsize=(9, 7), layout="constrained")
    files = list(seconds)[::-1]
    for name, colour in FILTER_COLOURS.items():
        ratios = [seconds[file][name] / seconds[file]["marshal"] for file in files]
        axis.scatter(ratios, range(len(files)), color=colour, label=name, zorder=2)
    axis.axvline(1, color=YARDSTICK, linewidth=0.8)
    axis.set_yticks(range(len(files)), files)
    axis.set_xlabel("CPU time of the whole process / that of marshal's filter")
    axis.grid(color=GRID, linewidth=0.6)
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure
