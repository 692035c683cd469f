"""Run the gates, keep what they have counted in figures.json, and write it into RELIABILITY.md.

    python tests/gates/reliability.py                   all of them, some hours
    python tests/gates/reliability.py faults soak       these; the others keep the figures of their last run
    python tests/gates/reliability.py --write           run nothing, write the page

Here: the commands of a full run, and the words for what they count. Not here: how they count. Invariant: a gate that
failed keeps no figures, and what is on the page says of which sources it was counted.
"""

import argparse
import datetime
import functools
import json
import pathlib
import subprocess
import sys
import textwrap

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402

KEPT = pathlib.Path(__file__).with_name("figures.json")
PAGE = build_copies.ROOT / "RELIABILITY.md"
START, END = "<!-- figures -->\n", "<!-- end of figures -->\n"

#: By name: the command, what it is for, and what it found in words.
GATES = {
    "fuzz": (
        "tests/fuzz/run.py --seconds 3600 --processes 2",
        "Fuzzing, memory between forbidden pages",
        "{executions:,} executions, {findings} findings; slowest input {slowest_seconds} s; {inputs_kept} inputs kept",
    ),
    "reference": ("tests/fuzz/run.py --targets reference --executions 1000000", "Decoding beside the slow reference",
                  "{executions:,} executions, {findings} differences"),
    "java": ("tests/fuzz/java.py", "Decoding, skipping, hashing beside Hadoop's own readers",
             "{cases:,} cases, {unexplained} unexplained differences"),
    "java-blocks": ("tests/fuzz/java_blocks.py",
                    "The Java reader of block messages on hostile bytes, with 64 MiB of memory",
                    "{cases:,} cases, {unexplained} unexplained differences"),
    "fuzz-coverage": ("tests/fuzz/run.py --engine atheris --seconds 600",
                      "Fuzzing led by coverage, under clang's ASan and UBSan",
                      "{executions:,} executions, {findings} findings"),
    "faults": ("tests/gates/faults.py", "Deliberate bugs, one at a time", "{caught} of {faults} caught"),
    "coverage": (
        "tests/gates/line_coverage.py",
        "Lines and branches that the suite reaches",
        "core: {lines_missed} of {lines:,} lines missed, {branches_missed} of {branches:,} branches, "
        "{calls_missed} of {calls:,} outcomes of calls; Python: {python_lines_missed} of {python_lines:,} lines",
    ),
    "sanitize": ("tests/gates/sanitize.py", "The suite and the fuzz targets under gcc's ASan and UBSan",
                 "{failed} reports"),
    "leaks": ("tests/gates/debug_python.py", "References and blocks leaked, on an interpreter built for debugging",
              "{operations:,} operations: {leaking} leak {counted}"),
    "valgrind": ("tests/gates/memory_check.py", "Vectors and corpus under valgrind", "{errors} errors of ours"),
    "free-threads": (
        "tests/gates/free_threads.py",
        "Threads on a CPython without the GIL, under ThreadSanitizer",
        "reports with a frame of ours: {without_gil}, {shared_without_gil} where threads share what they change, "
        "{with_gil} with the GIL",
    ),
    "bounds": ("bench/bounds.py", "CPU time, its growth, and how long a signal waits, for the worst input known",
               "1 MiB in {worst[seconds]} s at most, a doubling takes {worst[doubling]} times as long, "
               "a signal waits {worst[latency_seconds]} s"),
    "chaos": (
        "tests/soak/chaos.py 1000 100",
        "Jobs whose tasks misbehave, and which get signals and full disks at random moments",
        "{local:,} jobs here, {hadoop} in Hadoop, {faults} kinds of faults: {right} right, {failed} failed; "
        "{wrong} with success and wrong"
        " output, {left_processes} left processes, {left_files} left files, {failed_for_nothing} failed without cause",
    ),
    "soak": ("tests/soak/soak.py 100", "Gigabytes through one process",
             "{gigabytes:.1f} GB, memory grown by {growth_mebibytes} MiB, descriptors by {descriptors}"),
}  # fmt: skip


def sources():
    """Return the commit that is checked out, with a plus if anything differs but the figures and their page."""
    git = functools.partial(subprocess.run, cwd=build_copies.ROOT, capture_output=True, text=True, check=True)
    ours = [f":!{path.relative_to(build_copies.ROOT)}" for path in (KEPT, PAGE)]
    differing = git(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", *ours]).stdout
    return git(["git", "rev-parse", "--short", "HEAD"]).stdout.strip() + "+" * bool(differing)


def run(name):
    """Run a gate, its output to ours, and keep its figures; return whether it found nothing."""
    command = [sys.executable, *GATES[name][0].split()]
    print(f"== {name}: {' '.join(command[1:])}", flush=True)
    lines, of = [], sources()
    with subprocess.Popen(
        command,
        cwd=build_copies.ROOT,
        env=build_copies.environment_for(build_copies.ROOT),
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as child:
        for line in child.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    found = figures.parse("".join(lines))
    if child.returncode or not found:
        print(f"== {name} has failed")
        return False
    entry = {
        "command": GATES[name][0],
        "figures": found,
        "sources": of,
        "date": datetime.date.today().isoformat(),
        "python": sys.version.split()[0],
    }
    lines = (
        f"{json.dumps(gate)}: {json.dumps(found, sort_keys=True)}" for gate, found in {**kept(), name: entry}.items()
    )
    KEPT.write_text("{\n" + ",\n".join(sorted(lines)) + "\n}\n", "utf-8")
    return True


def kept():
    """Return the figures of the last runs."""
    return json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}


def listed():
    """Return the figures as a list, each with the command that counted them."""
    lines, entries = [], kept()
    for name, (_, subject, words) in GATES.items():
        if name in entries:
            entry = entries[name]
            found = (
                f"{words.format(**entry['figures'])} ({entry['date']}, {entry['sources']}, Python {entry['python']}, "
                f"`{entry['command']}`)"
            )
        else:
            found = "not run yet"
        lines += textwrap.wrap(
            f"- **{subject}**: {found}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def written(page):
    """Return the text of the page with the figures of now."""
    before, rest = page.split(START)
    return f"{before}{START}{listed()}{END}{rest.split(END)[1]}"


def main(arguments=None):
    """Run, keep, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", choices=[*GATES, []], metavar="NAME", help=", ".join(GATES))
    parser.add_argument("--write", action="store_true", help="run nothing, write the page")
    options = parser.parse_args(arguments)
    failed = [] if options.write else [name for name in options.names or GATES if not run(name)]
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    print(f"failed: {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
