"""The targets under atheris: libFuzzer leads inputs by the branches of the core, under ASan and UBSan.

    python tests/fuzz/run.py --engine atheris --seconds 600
    python tests/fuzz/coverage.py --keep NAME ...    put short inputs that reach all that was reached into corpus.txt

Wants clang, and atheris in the Python that runs it (`pip install '.[fuzz]'`). The core is built in a copy with clang's
instrumentation; what libFuzzer has found interesting stays under build/fuzz/corpus from run to run.

Here: that build, and talking to libFuzzer. Not here: checks. Invariant:
memory comes from malloc, so that an access one byte too far is a report.
"""

import argparse
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from fuzz import engine, inputs  # noqa: E402

#: NULL + 0 is an error for clang only; gcc's check of the same name, which does not report it, runs in sanitize.py.
FLAGS = (
    "-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all"
    " -fno-omit-frame-pointer -g -Wno-unknown-warning-option"
)
BUILD = {"CC": "clang", "CXX": "clang++", "CFLAGS": FLAGS, "LDSHARED": "clang -shared", "LDFLAGS": "-shared"}
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_segv=1:symbolize=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "PYTHONMALLOC": "malloc",
}
MAX_BYTES = 4096
NSEEDS = 300
MAX_KEPT = 40  # inputs of a target in corpus.txt
MAX_KEPT_BYTES = 120


def watch(command, name, seed, seconds, executions, timeout):
    """Run a target under libFuzzer, and return what came out of it."""
    folder = instrumented()
    corpus = seeded(name)
    findings = corpus.parent.parent / "artifacts"
    findings.mkdir(exist_ok=True)
    words = [
        corpus,
        f"-artifact_prefix={findings}/{name}-",
        f"-max_len={MAX_BYTES}",
        f"-timeout={int(timeout)}",
        "-print_final_stats=1",
    ]
    words += [
        f"-seed={int(re.sub('[^0-9]', '', seed) or 1) % 2**31 or 1}",
        "-detect_leaks=0",
        "-rss_limit_mb=2048",
        "-reload=0",
    ]
    words += [f"-max_total_time={max(1, int(seconds))}"] if seconds < 10**9 else []
    words += [f"-runs={executions}"] if executions < 10**9 else []
    before = set(findings.iterdir())
    log = libfuzzer(folder, name, *words)
    found = [
        {"kind": kind_of(path), "hex": path.read_bytes().hex(), "text": log[-3000:]}
        for path in sorted({*findings.iterdir()} - before)
    ]
    executed = re.search(r"number_of_executed_units:\s*(\d+)", log) or re.search(r"Done (\d+) runs", log)
    if executed is None and not found:
        raise RuntimeError(f"libFuzzer did not start:\n{log[-4000:]}")
    slowest = re.search(r"slowest_unit_time_sec:\s*(\d+)", log)
    mebibytes = re.search(r"peak_rss_mb:\s*(\d+)", log)
    return {
        "executions": int(executed[1]) if executed else 0,
        "findings": found,
        "slowest": float(slowest[1]) if slowest else 0.0,
        "mebibytes": int(mebibytes[1]) if mebibytes else 0,
    }


def kind_of(path):
    """Return the kind of a finding by the name that libFuzzer gives its input."""
    return "slow" if "slow-unit" in path.name else "stuck" if "timeout" in path.name else "death"


def instrumented():
    """Return a copy of the sources built with clang's instrumentation."""
    from gates import build_copies

    return build_copies.copy_and_build("instrumented", **BUILD)


def seeded(name):
    """Return the folder of a target's corpus, with what is kept for it and some inputs more."""
    from fuzz import targets
    from gates import build_copies

    folder = build_copies.BUILD / "fuzz" / "corpus" / name
    folder.mkdir(parents=True, exist_ok=True)
    maker = inputs.Maker("seeds")
    made = [targets.TARGETS[name].shape(maker) for _ in range(NSEEDS)]
    for number, data in enumerate([*inputs.corpus(name), *made]):
        (folder / f"seed-{number}").write_bytes(data[:MAX_BYTES])
    return folder


def libfuzzer(folder, name, *words):
    """Run libFuzzer on a target in the instrumented copy; return its log."""
    import atheris

    from gates import build_copies

    library = pathlib.Path(atheris.path()) / "asan_with_fuzzer.so"
    command = [sys.executable, folder / "tests" / "fuzz" / "coverage.py", "--child", name, *words]
    environment = build_copies.environment_for(folder, LD_PRELOAD=str(library), **SANITIZERS)
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
    )
    return done.stderr + done.stdout


def child(name, words):
    """Be the process that libFuzzer runs in."""
    import atheris

    with atheris.instrument_imports(include=["typedbytes"]):
        from fuzz import targets
    target = targets.TARGETS[name]
    atheris.Setup([sys.argv[0], *words], target.check, enable_python_coverage=True)
    atheris.Fuzz()


def keep(names):
    """Put the shortest inputs that together reach what a corpus reaches into corpus.txt."""
    import tempfile

    folder = instrumented()
    for name in names:
        with tempfile.TemporaryDirectory() as small:
            libfuzzer(folder, name, "-merge=1", "-detect_leaks=0", small, seeded(name))
            found = sorted((path.read_bytes() for path in pathlib.Path(small).iterdir()), key=len)
        known = set(inputs.corpus(name))
        short = [data for data in found if 0 < len(data) <= MAX_KEPT_BYTES and data not in known]
        step = max(1, len(short) // MAX_KEPT)
        chosen = short[::step][:MAX_KEPT]
        with open(inputs.CORPUS, "a", encoding="ascii") as file:
            file.writelines(f"{name} {data.hex()}\n" for data in chosen)
        print(f"{name}: {len(found)} inputs reach all, {len(chosen)} kept")


def main():
    """Run the command."""
    if sys.argv[1:2] == ["--child"]:
        engine.die_loudly()
        return child(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--keep", nargs="+", metavar="NAME", required=True)
    return keep(parser.parse_args().keep)


if __name__ == "__main__":
    sys.exit(main())
