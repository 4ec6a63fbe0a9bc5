"""The runner protocol of tiebreak for Python 3.8 and newer, CPython and PyPy.

A contestant is a function that gets the input and gives an object:

    import tiebreak

    class Contestant:
        def __init__(self, data, workload):
            ...
        def run(self):       # timed: the whole workload once; an integer, the checksum
            ...
        def dump(self):      # not timed: the answer of the last run, as text or bytes
            ...
        def reset(self):     # optional, not timed, before each run
            ...

    tiebreak.serve(Contestant)

`data` is bytes; `workload` has name, distribution, size, items and seed as study.toml and the
laboratory say them. Instead of `run` there may be `parts`, a list of functions like it: each is
timed by itself, and the laboratory takes the geometric mean of their times.

Standard output belongs to the protocol: what a contestant prints goes to standard error. The
protocol itself is described in docs/runner-protocol.md.
"""

import os
import platform
import sys
import traceback
from time import perf_counter_ns

VERSION = 1
_MASK = (1 << 64) - 1


class Workload:
    """What a contestant works on, in addition to the input's bytes."""

    def __init__(self, fields):
        self.name = fields.get("workload", "")
        self.distribution = fields.get("distribution", "")
        self.size = int(fields.get("size", 0))
        self.items = int(fields.get("items", 0))
        self.seed = int(fields.get("seed", 0))


def _fields(text):
    """NAME=VALUE words; the last one, path, goes to the end of the line."""
    words, has_path, path = text.partition("path=")
    fields = dict(word.split("=", 1) for word in words.split())
    if has_path:
        fields["path"] = path
    return fields


def _batch(run, times):
    """Runs it so many times: the time and the checksum, which must be the same each time."""
    if times == 0:
        return 0, 0
    differs = False
    start = perf_counter_ns()
    checksum = run()
    for _ in range(times - 1):
        if run() != checksum:
            differs = True
    elapsed = perf_counter_ns() - start
    if differs:
        raise RuntimeError("the checksum changed from one run to the next")
    return elapsed, int(checksum) & _MASK


class _Server:
    def __init__(self, prepare):
        self.prepare = prepare
        self.contestant = None

    def hello(self, _):
        runtime = platform.python_implementation().lower()
        return "hello %d %s %s" % (VERSION, runtime, platform.python_version())

    def load(self, text):
        self.contestant = None
        fields = _fields(text)
        data = b""
        if fields.get("path"):
            with open(fields["path"], "rb") as file:
                data = file.read()
        self.contestant = self.prepare(data, Workload(fields))
        has_reset = hasattr(self.contestant, "reset")
        return "loaded reset=%s" % ("yes" if has_reset else "no")

    def run(self, text):
        times = int(text)
        parts = getattr(self.contestant, "parts", None)
        if parts is None:
            return "ran elapsed_ns=%d checksum=%d" % _batch(self.contestant.run, times)
        ran = [_batch(part, times) for part in parts]
        checksum = 0
        for _, value in ran:
            checksum = (checksum * 31 + value) & _MASK
        each = ",".join(str(elapsed) for elapsed, _ in ran)
        elapsed = sum(elapsed for elapsed, _ in ran)
        return "ran elapsed_ns=%d checksum=%d parts_ns=%s" % (elapsed, checksum, each)

    def reset(self, _):
        if hasattr(self.contestant, "reset"):
            self.contestant.reset()
        return "reset"

    def dump(self, text):
        answer = self.contestant.dump()
        if isinstance(answer, str):
            answer = answer.encode()
        with open(_fields(text)["path"], "wb") as file:
            file.write(answer)
        return "dumped bytes=%d" % len(answer)

    def answer(self, word, rest):
        if word not in ("hello", "load", "run", "reset", "dump"):
            return "error unknown request '%s'" % word
        if self.contestant is None and word not in ("hello", "load"):
            return "error nothing is loaded"
        return getattr(self, word)(rest)


def _take_standard_streams():
    """The protocol gets both streams for itself; a contestant that reads finds nothing, and what
    it prints, from C too, goes to standard error."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb", 0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, answers


def serve(prepare):
    """Answers the laboratory until it says bye or is gone."""
    requests, answers = _take_standard_streams()
    server = _Server(prepare)
    for line in iter(requests.readline, b""):
        word, _, rest = line.decode().rstrip("\n").partition(" ")
        if word == "bye":
            break
        try:
            answer = server.answer(word, rest)
        except Exception as error:
            traceback.print_exc()
            answer = "error %s: %s" % (type(error).__name__, error)
        answers.write(answer.replace("\n", " ").encode() + b"\n")
