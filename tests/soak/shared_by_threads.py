"""Threads that encode, decode, and change and share what is encoded: `shared_by_threads.py SECONDS NTHREADS`, without the GIL.

`make test-3.13t` runs it. Each thread has a task at a time, chosen at random. What a thread encodes by itself comes back as it was; of what
threads share, each call gives a result or RuntimeError or ValueError. An interpreter that crashes ends with a signal.
Not here: bytearrays that threads resize, which crash CPython 3.13 without a call of ours.
"""

import collections
import datetime
import decimal
import faulthandler
import io
import os
import random
import sys
import threading
import time
import traceback
import uuid

import typedbytes as tb

ZONES = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in range(-12, 12)]
wrong = []
refused = collections.Counter()
shared_list, shared_dict, shared_set = [], {}, set()
shared = {}  # the objects below, each replaced from time to time
encoder, decoder = tb.Encoder(), tb.Decoder()


def made(chosen):
    """Return a value of every kind, with strings that come again and strings that do not."""
    return [
        [1, 2.5, True, None, b"x" * 50, 2**70, "a" * chosen.randrange(40), "€" * chosen.randrange(30)],
        {f"k{chosen.randrange(20000)}": (1, 2), "key" * chosen.randrange(9, 30): 7, "Schlüssel" * chosen.randrange(1, 20): 1},
        datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=chosen.choice(ZONES)),
        [decimal.Decimal("1.25"), uuid.UUID(int=chosen.randrange(2**100)), {1, 2, 3}, frozenset("ab"), 1 + 2j],
    ] * 3


def there_and_back(chosen):
    """Encode and decode a value of this thread."""
    value = made(chosen)
    data = tb.dumps(value)
    found = [tb.loads(data), decoder.decode(encoder.encode(value)), *tb.Reader(io.BytesIO(data)), *decoder.decode_all(data * 3)]
    if found != [value] * 6 or tb.count(data * 3) != 3:
        wrong.append(f"{value} became {found}")


CHANGES = [
    lambda chosen: shared_list.append(made(chosen)[0]),
    lambda chosen: shared_list.extend([chosen.random()] * 50),
    lambda chosen: shared_list.__delitem__(slice(chosen.randrange(30), None)),
    lambda chosen: shared_list.__setitem__(slice(None), [[] for _ in range(chosen.randrange(60))]),
    lambda chosen: shared_list.clear(),
    lambda chosen: shared_dict.__setitem__(f"k{chosen.randrange(40)}", [chosen.random()] * 9),
    lambda chosen: shared_dict.pop(f"k{chosen.randrange(40)}", None),
    lambda chosen: shared_dict.clear(),
    lambda chosen: shared_set.add(chosen.randrange(1000)),
    lambda chosen: shared_set.clear(),
]


def change(chosen):
    """Change the shared containers."""
    for _ in range(300):
        chosen.choice(CHANGES)(chosen)


def encode_shared(chosen):
    """Encode containers while others change them; what comes out must be whole."""
    for value in (shared_list, shared_dict, shared_set, [shared_list, shared_dict, shared_set]):
        try:
            tb.loads(tb.dumps(value, sort_keys=chosen.random() < 0.5))
        except RuntimeError:
            refused["changed meanwhile"] += 1


def next_of(iterator, data, chosen):
    next(iterator, None)


def write_to(writer, data, chosen):
    writer.write(made(chosen))
    if chosen.random() < 0.1:
        writer.flush()


def feed(fed, data, chosen):
    fed.feed(data[:1000])
    next(fed, None)


KINDS = {
    "reader": (lambda data: tb.Reader(io.BytesIO(data)), next_of),
    "pairs": (lambda data: tb.PairReader(io.BytesIO(data)), next_of),
    "writer": (lambda data: tb.Writer(io.BytesIO()), write_to),
    "decoder": (lambda data: tb.Decoder(), feed),
}


def use_shared(chosen):
    """Use an object that others use, and sometimes close or replace it."""
    data = b"".join(tb.dumps(made(chosen)) for _ in range(10))
    name, (make, use) = chosen.choice(list(KINDS.items()))
    try:
        if name not in shared or chosen.random() < 0.1:
            shared[name] = make(data)
        one = shared[name]
        for _ in range(20):
            use(one, data, chosen)
        if chosen.random() < 0.05:
            one.close()
    except (RuntimeError, ValueError) as error:  # in use, closed, or what was fed in pieces of two threads
        refused[type(error).__name__] += 1


def start_threads(chosen):
    """Start threads that end soon, and with them what they hold."""
    started = [threading.Thread(target=there_and_back, args=(random.Random(),)) for _ in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def work(stop):
    """Do one thing after the other until the time is over."""
    chosen = random.Random()
    tasks = [there_and_back, change, change, encode_shared, encode_shared, use_shared, use_shared, start_threads]
    while time.monotonic() < stop and not wrong:
        try:
            chosen.choice(tasks)(chosen)
        except BaseException:
            wrong.append(traceback.format_exc())


def main():
    seconds, nthreads = float(sys.argv[1]), int(sys.argv[2])
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.exit("this needs a CPython without the GIL, and PYTHON_GIL=0")
    faulthandler.enable()
    threads = [threading.Thread(target=work, args=(time.monotonic() + seconds,)) for _ in range(nthreads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{nthreads} threads, {seconds:g} s: {len(wrong)} wrong; refused: {dict(refused)}", *wrong[:2], sep="\n", flush=True)
    os._exit(bool(wrong))


if __name__ == "__main__":
    main()
