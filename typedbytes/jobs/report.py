"""The report of a job: one HTML page from what is known of it, without scripts and without anything from a network.

    page_of(history)    the page
    table_of(result)    the small table that a notebook shows

Here: what the page says and how it looks. Not here: running jobs, files. Invariant: every text is escaped where it
becomes markup, and secrets are hidden; lengths are shares of the width, so that the page fits any screen.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from html import escape
from statistics import median

import typedbytes
from typedbytes._base.secrets import without_secret_values, without_secrets
from typedbytes.jobs.history import STOPPED
from typedbytes.jobs.report_style import STYLE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typedbytes.jobs.history import JobHistory, TaskHistory
    from typedbytes.jobs.result import Result

__all__ = ["page_of", "table_of"]

MAX_DRAWN = 2000  # tasks of a step, and its reducers
NSLOWEST = 10
MAX_SHOWN = 300  # characters of a key, a value or the path of an input
#: What would hide in a page, or change the order of its text.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Seconds between the marks of a time axis.
_ROUND = [*(each * 10**power for power in (-3, -2, -1, 0) for each in (1, 2, 5)), 10, 20]
_ROUND += [unit * each for unit in (60, 3600, 86400) for each in (0.5, 1, 2, 5, 10, 20)]


class Markup(str):
    """Text that is markup already."""


def tag(name: str, *contents: object, **attributes: object) -> Markup:
    """Return an element with contents and attributes, which are escaped; class_ is class, stroke_width stroke-width."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{words}>{_escaped(contents)}</{name}>")


def _escaped(content):
    if isinstance(content, Markup):
        return content
    if isinstance(content, (tuple, list)):
        return Markup("".join(map(_escaped, content)))
    text = _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", without_secrets(str(content)))
    return Markup(escape(text))


def page_of(history: JobHistory) -> str:
    """Return the page of a job that has ended."""
    parts = [_head(history)]
    if history.failure:
        parts.append(_failure(history))
    for step in history.steps:
        parts += [tag("h2", step.name)] if len(history.steps) > 1 else []
        parts += filter(None, (_stages(step), _timeline(step, history.end), _reducers(step), _slowest(step)))
    if history.bad_records:
        parts.append(_bad_records(history))
    parts += filter(None, (_counters(history), _repeating(history)))
    policy = "default-src 'none'; style-src 'unsafe-inline'"  # whatever a text may be, nothing of it runs or is loaded
    head = [
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("title", f"{history.name}: {'failed' if history.failure else 'done'}"),
        tag("style", Markup(STYLE)),
    ]
    return f"<!DOCTYPE html>\n{tag('html', tag('head', head), tag('body', tag('main', parts)), lang='en')}\n"


def table_of(result: Result) -> str:
    """Return the table of a result."""
    rows = [("output", result.output), *_figures_of(result)]
    for number, step in enumerate(result.steps, 1):
        said = f"{step.records_in:,} to {step.records_out:,} records, {_seconds(step.seconds)}"
        rows.append((f"step {number}", said))
    return tag("table", [tag("tr", tag("th", name), tag("td", value)) for name, value in rows])


def _figures_of(result):
    yield from (("records read", f"{result.records_in:,}"), ("records written", f"{result.records_out:,}"))
    yield from [("bad records", f"{result.bad_records:,}")] if result.bad_records else []
    tasks = [(result.nmaps, "map"), (result.nreducers, "reduce")]
    yield "tasks", ", ".join(f"{count:,} {kind}" for count, kind in tasks if count is not None)
    yield "time", _seconds(result.seconds)


def _section(title, *contents):
    return tag("section", tag("h3", title), contents)


def _table(columns, rows):
    """Return a table; numbers are in columns whose names end with a space. One cell too many is below its row."""
    kinds = ["n" if name.endswith(" ") else "any" for name in columns]
    head = tag("tr", [tag("th", name.strip(), class_=kind) for name, kind in zip(columns, kinds)])
    body = []
    for row in rows:
        below = [tag("tr", tag("td", each, colspan=len(kinds))) for each in row[len(kinds) :]]
        cells = [tag("td", cell, class_=kind) for cell, kind in zip(row, kinds)]
        body += [tag("tr", cells, class_="over" if below else None), *below]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="wide")


def _head(history):
    steps = history.steps
    first, last = (steps[0], steps[-1]) if steps else (None, None)
    figures = [("time", _seconds(history.end - history.start))]
    if first is not None and last is not None:
        written = "REDUCE_OUTPUT_RECORDS" if last.nreducers else "MAP_OUTPUT_RECORDS"
        figures += [("records read", _count(first.numbers.get("MAP_INPUT_RECORDS")))]
        figures += [] if history.failure else [("records written", _count(last.numbers.get(written)))]
        figures += [
            (f"{kind} tasks", _count(sum(counts)))
            for kind, counts in (("map", [s.nmaps for s in steps]), ("reduce", [s.nreducers for s in steps]))
            if None not in counts
        ]
    nbad = sum(step.counters.get("typedbytes", {}).get("BadRecords", 0) for step in steps)
    figures += [("bad records", _count(nbad))] if nbad else []
    outcome = tag("strong", "failed", class_="bad") if history.failure else tag("strong", "succeeded", class_="good")
    when = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(history.start))
    return tag(
        "section",
        tag("h1", history.name),
        tag("p", outcome, f" on {history.engine}, started {when}"),
        tag("small", "output: ", "none" if history.failure else history.output),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in figures if value]),
    )


def _failure(history):
    first, *others = history.failure.splitlines()
    lines = [*others, *history.tail]
    more = tag("pre", "\n".join(lines)) if lines else ()
    return _section("What failed", tag("p", first, class_="bad"), more)


def _stages(step):
    """Return the table of what each stage, a column, has read and written."""
    numbers, columns = step.numbers, []
    for kind in ("map", "combine", "reduce") if step.nreducers else ("map",):
        read, written = (numbers.get(f"{kind.upper()}_{side}_RECORDS") for side in ("INPUT", "OUTPUT"))
        if not read and not written:
            continue
        tasks = [task for task in step.tasks if task.kind == kind]
        times = [(task.start, task.end) for task in tasks if task.end]
        if kind == "combine":
            times = [each for task in step.tasks for each in task.combined]
        known = [task.nbytes for task in tasks if task.nbytes is not None]
        nbytes = sum(known) if known else None
        nbytes_written = step.nbytes_written if kind == ("reduce" if step.nreducers else "map") else None
        ratio = f"{written / read:.3g}" if read and written is not None else ""
        spent = _seconds(sum(end - start for start, end in times)) if times else ""
        columns.append([f"{kind} ", _count(read), _count(written), ratio, _size(nbytes), _size(nbytes_written), spent])
    if not columns:
        return None
    titles = ["", "records in", "records out", "out for one in", "bytes in", "bytes out", "time of all tasks"]
    first, *rows = zip(titles, *columns)
    return _section("Stages", _table(first, rows))


def _timeline(step, job_end):
    """Return the tasks over time: in a row are those that one process could have run, one after the other."""
    tasks = sorted((task for task in step.tasks if task.start), key=lambda task: task.start)
    if not tasks:
        return None
    start = min(step.start or tasks[0].start, tasks[0].start)
    end = max(step.end or job_end, *(task.end for task in tasks))
    span = max(end - start, 1e-6)
    said = ""
    if len(tasks) > MAX_DRAWN:
        said = f"The {MAX_DRAWN:,} longest of {len(tasks):,} tasks."
        longest = sorted(tasks, key=lambda task: (task.end or end) - task.start)[-MAX_DRAWN:]
        tasks = sorted(longest, key=lambda task: task.start)
    rows = _rows_of(tasks, end)
    height = max(4, min(22, 660 // (max(rows) + 1)))
    bottom = height * (max(rows) + 1)
    bars = [_bar(task, row * height, height, start, span, end) for task, row in zip(tasks, rows)]
    axis = []
    for at in _ticks(span):
        x = _share(at / span)
        axis.append(tag("line", x1=x, x2=x, y1=0, y2=bottom + 4))
        axis.append(tag("text", _seconds(at), x=x, y=bottom + 16, text_anchor="middle" if at else "start"))
    kinds = {"map": "map", "combine": "its combiner", "reduce": "reduce", "failed": "failed", "stopped": "stopped"}
    there = {kind for task in tasks for kind in (_kind(task), *(["combine"] if task.combined else []))}
    swatches = {kind: tag("svg", _rect(0, 1, 0, 12, kind)) for kind in kinds}
    legend = [tag("span", swatches[kind], name) for kind, name in kinds.items() if kind in there]
    chart = tag("svg", axis, bars, height=bottom + 20, role="img", aria_label="when each task ran")
    return _section("Tasks over time", tag("p", legend, class_="legend"), chart, tag("small", said))


def _rows_of(tasks: Sequence[TaskHistory], end: float) -> list[int]:
    """Return a row for each task, in the order in which they started."""
    free: list[float] = []  # for each row, when its last task ended
    rows = []
    for task in tasks:
        row = next((row for row, at in enumerate(free) if at <= task.start), len(free))
        free[row : row + 1] = [task.end or end]
        rows.append(row)
    return rows


def _bar(task, top, height, start, span, end):
    """Return the bar of a task, the time of its combiner in the lower part, with what is shown on pointing at it."""
    seconds = (task.end or end) - task.start
    x = (task.start - start) / span
    bars = [_rect(x, seconds / span, top, height - 1, _kind(task))]
    for first, last in task.combined:
        bars.append(
            _rect((first - start) / span, (last - first) / span, top + 0.6 * height, 0.4 * height - 1, "combine")
        )
    if height >= 16 and seconds / span > 0.14:
        bars.append(tag("text", _name(task), x=_share(x), dx=4, y=top + height // 2, dy=4, class_="on"))
    said = [_name(task), _seconds(seconds), _size(task.nbytes), task.source, task.failure]
    return tag("g", tag("title", ", ".join(filter(None, said))), bars)


def _rect(x, width, top, height, kind):
    """Return a rectangle with a gap after it, which is never too narrow to be seen; x, width: shares of the chart."""
    share = _share(width)
    seen = f"width: max(1px, calc({share} - 1px))"
    return tag("rect", x=_share(x), width=share, y=f"{top:.1f}", height=f"{height:.1f}", class_=kind, style=seen)


def _reducers(step):
    """Return the bytes that each reduce task has got, and how unequal they are."""
    found = {task.number: task for task in step.tasks if task.kind == "reduce" and task.nbytes is not None}
    tasks = [found[number] for number in sorted(found)]
    if len(tasks) < 2:
        return None
    sizes = [task.nbytes for task in tasks]
    middle, most = median(sizes), max(sizes)
    largest = tasks[sizes.index(most)]
    said = f"{_name(largest)} has got the most, {_size(most)}"
    said += f": {most / middle:.1f} times the median of {_size(middle)}" if middle else ""
    if len(tasks) > MAX_DRAWN:
        said += f"; the {MAX_DRAWN:,} largest of {len(tasks):,} are shown"
        tasks = sorted(tasks, key=lambda task: task.nbytes)[-MAX_DRAWN:]
    height, share, shown = 130, min(1 / len(tasks), 0.12), []
    for place, task in enumerate(tasks):
        tall = height * task.nbytes / (most or 1)
        title = f"{_name(task)}, {_size(task.nbytes)}, {_count(task.counted.get('REDUCE_INPUT_RECORDS'))} records"
        shown.append(tag("g", tag("title", title), _rect(place * share, share, height - tall, tall, "reduce")))
    y, right = f"{height - height * middle / (most or 1):.1f}", _share(share * len(tasks))
    shown += [
        tag("line", x1=0, x2="100%", y1=height, y2=height),
        tag("line", x1=0, x2="100%", y1=y, y2=y, class_="median"),
        tag("text", _name(tasks[0]), x=0, y=height + 15),
        tag("text", _name(tasks[-1]), x=right, y=height + 15, text_anchor="end"),
    ]
    chart = tag("svg", shown, height=height + 20, role="img", aria_label="bytes of each reduce task")
    return _section("Bytes of each reduce task", tag("p", said, "; the dashed line is the median"), chart)


def _slowest(step):
    """Return the tasks that took longest, with their inputs."""
    tasks = [task for task in step.tasks if task.number is not None and task.end]
    if not tasks:
        return None
    medians = {
        kind: median([task.end - task.start for task in tasks if task.kind == kind])
        for kind in {task.kind for task in tasks}
    }
    rows = []
    for task in sorted(tasks, key=lambda task: task.start - task.end)[:NSLOWEST]:
        seconds = task.end - task.start
        usual = medians[task.kind]
        said = [_shortened(task.source), f"{seconds / usual:.1f} times the median of its kind" if usual else ""]
        read = task.counted.get(f"{task.kind.upper()}_INPUT_RECORDS")
        below = [tag("small", "; ".join(filter(None, said)))]
        below += [tag("small", _shortened(task.failure), class_="bad")] if task.failure else []
        rows.append([_name(task), _seconds(seconds), _count(read), _size(task.nbytes), below])
    columns = ["task", "time ", "records ", "bytes "]
    return _section("Slowest tasks", _table(columns, rows))


def _bad_records(history):
    rows = [[tag("code", _shortened(item)) for item in record] for record in history.bad_records]
    return _section("Bad records", _table(["file", "key", "value"], rows))


def _counters(history):
    """Return the counters, those of the job's own code first."""
    parts = []
    for step in history.steps:
        groups = sorted(step.counters.items(), key=lambda each: (_is_of_hadoop(each[0]), each[0]))
        for group, amounts in groups:
            rows = [[name, _count(amount)] for name, amount in sorted(amounts.items())]
            title = f"{step.name}: {group}" if len(history.steps) > 1 else group
            is_open = None if _is_of_hadoop(group) else "open"
            parts.append(tag("details", tag("summary", title), _table(["counter", "amount "], rows), open=is_open))
    return _section("Counters", parts) if parts else None


def _is_of_hadoop(group):
    return group.startswith("org.apache.hadoop.") or group in ("Map-Reduce Framework", "Job Counters") or (
        group.endswith((" Counters", " Errors"))
    )  # fmt: skip


def _repeating(history):
    version = f"typedbytes {typedbytes.__version__}, Python {sys.version.split()[0]}"
    if not history.command:
        return tag("section", tag("small", version))
    command = f"cd {shlex.quote(os.getcwd())}\n{shlex.join(without_secret_values(history.command))}"
    return _section("The command that repeats it", tag("pre", tag("code", command)), tag("small", version))


# -- texts


def _kind(task):
    return "stopped" if task.failure == STOPPED or not task.end else "failed" if task.failure else task.kind


def _name(task):
    if task.number is None:
        return f"all {task.kind} tasks"
    return f"{task.kind} {task.number}" + (f", attempt {task.attempt}" if task.attempt else "")


def _share(part):
    return f"{100 * part:.3f}%"


def _ticks(span: float) -> list[float]:
    """Return up to five times from 0 on, a round number of seconds, minutes, hours or days apart."""
    step = next((each for each in _ROUND if 5 * each >= span), span)
    return [number * step for number in range(6) if number * step <= 0.94 * span]


def _count(number: object) -> str:
    return "" if number is None else f"{number:,}" if isinstance(number, int) else str(number)


def _size(nbytes):
    if nbytes is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}" if unit != "B" else f"{nbytes:.0f} B"
        nbytes /= 1024
    return f"{nbytes:,.3g} TiB"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{round(seconds, 3):.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _shortened(text):
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 4]} ..."
