"""The report of a failing task for its user: one attempt, their own line first, without folders of a node.

Not here: where reports come from. Invariant: nothing of the last attempt's report is left out.
"""

import re

__all__ = ["summarize"]

#: The folder of a task's container, or of Hadoop's copies of the files of a job.
NODE_FOLDER = re.compile(r"/(?:[^\s\"':]*/)?(?:container_\w+|filecache/\d+)/(?:\./)?")
FRAME = re.compile(r'  File "([^"]+)", line (\d+), in ')
NOT_USER_CODE = re.compile(r"(?:^|/)typedbytes(?:-bundle)?(?:\.zip)?/|/lib/python3|^<")
START, TRACEBACK = "typedbytes: task failed", "Traceback (most recent call last):"


def summarize(report):
    """Return the error with the line of the user's code, or None, and the lines of the last attempt's report.

    >>> frame = ['  File "/x/container_1/job.py", line 2, in m', "    1 / 0"]
    >>> error, lines = summarize(["Traceback (most recent call last):", *frame, "ZeroDivisionError: by zero"])
    >>> error, lines[1]
    ('ZeroDivisionError: by zero (job.py, line 2: 1 / 0)', '  File "job.py", line 2, in m')
    """
    lines = [NODE_FOLDER.sub("", line) for line in _last_of(report)]
    return _user_error(lines), [line.removeprefix("typedbytes: ") for line in lines]


def _last_of(report):
    starts = [number for number, line in enumerate(report) if line.startswith(START)]
    if not starts:  # failed before it read any input; a traceback that starts elsewhere is another's
        starts = [
            n
            for n, line in enumerate(report)
            if line == TRACEBACK and not any("exception" in each for each in report[max(n - 2, 0) : n])
        ]
    return report[starts[-1] :] if starts else report


def _user_error(lines):
    """Return the error and the innermost line of the user's own code, or None."""
    frames = [
        (number, found)
        for number, found in enumerate(map(FRAME.match, lines))
        if found and not NOT_USER_CODE.search(found[1])
    ]
    errors = [
        line
        for line in lines
        if line and not line.startswith((" ", "typedbytes: ", TRACEBACK, "During handling", "The above exception"))
    ]
    if not frames or not errors:
        return None
    number, found = frames[-1]
    code = "".join(line.strip() for line in lines[number + 1 : number + 2] if line.startswith("    "))
    return f"{errors[-1]} ({found[1]}, line {found[2]}{f': {code}' if code else ''})"
