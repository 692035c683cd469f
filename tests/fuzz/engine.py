"""One target in a process of its own, watched: executions, findings, and the input that killed it.

Here: the loop, the clock, the process. Not here: what a target checks. Invariant: the input being run is kept in a file
that outlives the process; a finding is an exception that came out, a death, or an input that took long.
"""

import gc
import json
import mmap
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import traceback

from fuzz import inputs

SLOW_SECONDS = 1.0  # of processor time, for one input, unless the command line says otherwise
# an input that took longer is run again: others on the machine may have made it slow, and one quick run acquits it
TRIES = 3
MAX_FINDINGS = 5  # of one run of one target
MAX_INPUT = 1 << 20


class Record:
    """The input being run, in a file shared with the process that watches."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self._pages = mmap.mmap(file.fileno(), MAX_INPUT + 16)

    def start(self, number, data):
        """Note that an execution begins."""
        self._pages[:16] = number.to_bytes(8, "big") + len(data).to_bytes(8, "big")
        self._pages[16 : 16 + len(data)] = data

    def read(self):
        """Return the number of the execution that began last, and its input."""
        number = int.from_bytes(self._pages[:8], "big")
        return number, self._pages[16 : 16 + int.from_bytes(self._pages[8:16], "big")]


def supply(name, target, seed):
    """Yield the inputs kept for a target, then new ones for ever."""
    yield from inputs.corpus(name)
    maker = inputs.Maker(f"{name} {seed}")
    while True:
        yield target.shape(maker)


def work(name, target, seed, seconds, executions, slow_seconds, path):
    """Run a target until seconds or executions are over, and print what came out as one line of JSON."""
    record, findings, met, slowest = Record(path), [], set(), 0.0
    end, number = time.monotonic() + seconds, 0
    for data in supply(name, target, seed):
        if number >= executions or (number & 63 == 0 and time.monotonic() > end) or len(findings) >= MAX_FINDINGS:
            break
        number += 1
        record.start(number, data)
        took, error = timed(target, data)
        for _ in range(TRIES - 1):
            if took > slow_seconds:
                took = min(took, timed(target, data)[0])
        if error is not None and where(error) not in met:
            met.add(where(error))
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-6))
            findings.append({"kind": "exception", "hex": data.hex(), "text": text})
        slowest = max(slowest, took)
        if took > slow_seconds:
            findings.append({"kind": "slow", "hex": data.hex(), "text": f"{took:.2f} s"})
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"executions": number, "findings": findings, "slowest": slowest, "mebibytes": kib // 1024}))


def timed(target, data):
    """Run a target; return the processor time that it took, and the exception that came out, None when it was well."""
    before = time.process_time()
    try:
        target.check(data)
        assert gc.isenabled(), "the collector was left switched off"
    except Exception as error:
        gc.enable()
        return time.process_time() - before, error
    return time.process_time() - before, None


def where(error):
    """Return where an exception was raised, so that one fault is reported once."""
    frames = traceback.extract_tb(error.__traceback__)
    return type(error).__name__, frames[-1].filename, frames[-1].lineno, frames[min(1, len(frames) - 1)].lineno


def watch(command, name, seed, seconds, executions, timeout):
    """Run a target in processes of its own, another when one dies, and return what came out of all.

    A process is ended when one input takes longer than `timeout` seconds by the clock.
    """
    total = {"executions": 0, "findings": [], "slowest": 0.0, "mebibytes": 0}
    end = time.monotonic() + seconds
    while executions > total["executions"] and len(total["findings"]) < MAX_FINDINGS:
        left = end - time.monotonic()
        if left <= 0:
            break
        seed_now = f"{seed}.{len(total['findings'])}"
        found = _one_process(command, name, seed_now, left, executions - total["executions"], timeout)
        total["executions"] += found["executions"]
        total["findings"] += found["findings"]
        total["slowest"] = max(total["slowest"], found["slowest"])
        total["mebibytes"] = max(total["mebibytes"], found["mebibytes"])
        if not any(finding["kind"] in ("death", "stuck") for finding in found["findings"]):
            break
    return total


def _one_process(command, name, seed, seconds, executions, timeout):
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(MAX_INPUT + 16)
        words = [
            *command, "--child", name, "--seed", seed, "--seconds", seconds, "--executions", executions, "--record",
            file.name,
        ]  # fmt: skip
        child = subprocess.Popen(
            [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        record = Record(file.name)
        output, errors, stuck = _wait(child, record, timeout)
        if child.returncode == 0 and output:
            return json.loads(output.splitlines()[-1])
        number, data = record.read()
        kind = "stuck" if stuck else "death"
        finding = {"kind": kind, "hex": data.hex(), "text": f"exit code {child.returncode}\n{errors[-4000:]}"}
        return {"executions": number, "findings": [finding], "slowest": 0.0, "mebibytes": 0}


def _wait(child, record, timeout):
    """Wait for the end of a process, or end it when one input takes for ever."""
    number, since = 0, time.monotonic()
    while True:
        try:
            return (*child.communicate(timeout=min(1, timeout)), False)
        except subprocess.TimeoutExpired:
            now = record.read()[0]
            if now != number:
                number, since = now, time.monotonic()
            elif time.monotonic() - since > (timeout if number else 60):
                child.kill()
                return (*child.communicate(), True)


def save(folder, name, findings):
    """Write the inputs of findings and what was said about them into a folder; return the files of the inputs."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for n, finding in enumerate(findings):
        path = folder / f"{name}-{finding['kind']}-{n}"
        path.write_bytes(bytes.fromhex(finding["hex"]))
        path.with_suffix(".txt").write_text(finding["text"])
        paths.append(path)
    return paths


def die_loudly():
    """Have the interpreter say where it was when a signal kills it."""
    import faulthandler

    faulthandler.enable(file=sys.stderr, all_threads=False)
