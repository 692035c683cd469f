"""A record as plots, SVG and PNG.

What belongs here: how the numbers are drawn. What this file must not know: how anything is measured.
"""

import matplotlib

matplotlib.use("agg")

import goals  # noqa: E402
from contenders import CONTENDERS  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from tables import yardstick  # noqa: E402

#: What makes an SVG the same in every run.
STABLE = {"svg.hashsalt": "typedbytes", "svg.fonttype": "none"}
OURS = "#c0392b"
COLOURS = {
    "typedbytes": OURS, "typedbytes stream": "#e59866", "marshal": "#2c3e50", "msgspec": "#2980b9", "msgspec typed": "#85c1e9",
    "ormsgpack": "#8e44ad", "msgpack": "#27ae60", "pickle": "#7f8c8d", "cbor2": "#d4ac0d", "orjson": "#16a085",
}  # fmt: skip


def write(results, path):
    """Write the plots of a record beside it."""
    with pyplot.rc_context(STABLE):
        save(objects(results), path, "objects")
        seconds = goals.filter_seconds(results)
        if seconds:
            save(filters(seconds), path, "filters")


def save(figure, path, name):
    """Write a figure in both forms."""
    for suffix, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        figure.savefig(path.with_name(f"{path.stem}-{name}.{suffix}"), metadata=metadata, dpi=110)
    pyplot.close(figure)


def objects(results):
    """Draw, for each shape, everyone's time as a part of the better yardstick's: further left is faster."""
    figure, axes = pyplot.subplots(1, 2, figsize=(13, 8), sharey=True, layout="constrained")
    for axis, operation in zip(axes, ("decode", "encode")):
        races = [race for race in results["races"] if race["operation"] == operation and not race["shape"].endswith(" large")]
        draw_ratios(axis, races[::-1])
        axis.set_title(operation)
        axis.set_xlabel("time / better of marshal and msgspec")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def draw_ratios(axis, races):
    """Draw a line for each race, a mark for each contender but those off the scale."""
    axis.axvline(1, color="#2c3e50", linewidth=0.8)
    for name in CONTENDERS:
        if name in COLOURS:
            found = [(race["entries"][name]["ns"] / yardstick(race), race["shape"]) for race in races if name in race["entries"]]
            ours = name == "typedbytes"
            axis.scatter(
                [ratio for ratio, _ in found],
                [races_index(races, shape) for _, shape in found],
                color=COLOURS[name], label=name, s=70 if ours else 28, marker="D" if ours else "o", zorder=3 if ours else 2,
            )  # fmt: skip
    axis.set_xscale("log", base=2)
    axis.set_xlim(1 / 16, 16)
    axis.set_xticks([2**power for power in range(-4, 5)])
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_yticks(range(len(races)), [race["shape"] for race in races])
    axis.grid(color="#dddddd", linewidth=0.6)


def races_index(races, shape):
    """Return the line of a shape."""
    return next(index for index, race in enumerate(races) if race["shape"] == shape)


def filters(seconds):
    """Draw, for each file, the filters' CPU time beyond that of an empty process, as a part of the marshal filter's."""
    figure, axis = pyplot.subplots(figsize=(9, 7), layout="constrained")
    carry = goals.carried_over(seconds)
    names = list(seconds)[::-1]
    for row, name in enumerate(names):
        times = {**seconds[name], "older libraries": goals.PREDECESSOR[name] * carry}
        for contender, colour in FILTER_COLOURS.items():
            axis.scatter(times[contender] / times["marshal"], row, color=colour, label=contender if row == 0 else None, zorder=2)
    axis.axvline(1, color="#2c3e50", linewidth=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.set_xlabel("CPU time of the whole process / marshal's")
    axis.grid(color="#dddddd", linewidth=0.6)
    axis.legend(frameon=False)
    return figure


FILTER_COLOURS = {
    "typedbytes": OURS, "typedbytes bulk": "#e59866", "typedbytes raw": "#f5cba7", "marshal": "#2c3e50",
    "older libraries": "#7f8c8d",
}  # fmt: skip
