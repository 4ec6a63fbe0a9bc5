"""What tiebreak itself costs: for each round, before the first one, in memory, in arithmetic."""

import contextlib
import csv
import json
import os
import pty
import re
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path

import peers

# The program of about so many milliseconds, and how often it is raced with itself.
PROGRAM_MS = 1.0
ROUNDS, ROUND_REPEATS = 500, 9
STARTS = 30
MEMORY_ROUNDS, MEMORY_REPEATS = (2_000, 20_000), 3
# No evidence suffices for this, so the budget ends the run.
ENDLESS = ["--error", "0.000001", "--resolution", "0.01%"]


def folder():
    """A folder on the disk of the checkout, for as long as the block runs."""
    return tempfile.TemporaryDirectory(dir=peers.BUILT)


def said(command, statuses=(0,), stderr=subprocess.PIPE):
    """What a command prints on standard output."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    if ran.returncode not in statuses:
        raise peers.Problem(f"{command[0]} ended with {ran.returncode}: {ran.stderr or ''}".strip())
    return ran.stdout


def race(args, store, options, commands, before=(), stderr=subprocess.PIPE):
    """The result of `tiebreak compare`."""
    command = [*before, args.tiebreak, "compare", "--store", store, "--json", "-", *options]
    return json.loads(said([*command, *commands], {0, 2}, stderr))


def compile_meter():
    """Compiles the C program that stamps times and reads peak memory; gives its path."""
    program = peers.BUILT / "meter"
    source = peers.HERE / "meter.c"
    said(["cc", "-O2", "-Wall", "-static", "-o", program, source])
    return program


def program_of(args, work, wanted_ms):
    """A command whose wall time, seen by tiebreak, is about so many milliseconds."""
    with folder() as place:
        options = ["--runs", "200", "--no-wait", *ENDLESS]
        result = race(args, f"{place}/store", options, [f"{work} 1"] * 2)
    empty_ms = result["contestants"][0]["metrics"]["wall_ns"]["p10"] / 1e6
    left_ms = max(wanted_ms - empty_ms, 0.01)
    return f"{work} {said([work, '--steps', str(left_ms)]).strip()}"


@contextlib.contextmanager
def terminal():
    """A terminal whose output is read."""

    def read():
        with contextlib.suppress(OSError):
            while os.read(ours, 65536):
                pass

    ours, theirs = pty.openpty()
    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield theirs
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def around_rounds(args, work, order):
    """Milliseconds that tiebreak adds to the three runs of a round, in three ways of running."""
    command = program_of(args, work, PROGRAM_MS)
    ways = ["quiet", "terminal", "waiting"]
    for _ in range(1 if args.quick else ROUND_REPEATS):
        order.shuffle(ways)
        for way in ways:
            yield {"what": "round", "way": way, **around_a_round(args, command, way)}


def around_a_round(args, command, way):
    """The time of the rounds less that of their runs: two timed ones, and a primer like them."""
    options = ["--budget", f"{ROUNDS} rounds", *ENDLESS]
    options += [] if way == "waiting" else ["--no-wait"]
    options += [] if way == "terminal" else ["--quiet"]
    with folder() as place, contextlib.ExitStack() as stack:
        stderr = stack.enter_context(terminal()) if way == "terminal" else subprocess.PIPE
        store = f"{place}/store"
        result = race(args, store, options, [command] * 2, stderr=stderr)
        table = said([args.tiebreak, "export", "--csv", "-", "--store", store]).splitlines()
    walls_ms = [int(row["wall_ns"]) / 1e6 for row in csv.DictReader(table)]
    own_ms = 1e3 * (result["seconds"] - result["seconds_waited"]) - 1.5 * sum(walls_ms)
    return {
        "rounds": result["rounds"],
        "program_ms": round(statistics.median(walls_ms), 4),
        "waited_ms": round(1e3 * result["seconds_waited"] / result["rounds"], 4),
        "added_ms": round(own_ms / result["rounds"], 4),
    }


def read_meter(path):
    """The first number of each name."""
    numbers = {}
    for line in path.read_text().splitlines():
        name, number = line.split()
        numbers.setdefault(name, int(number))
    return numbers


def starts(args, meter):
    """Milliseconds before the first program runs, with a new journal and with one of many runs."""
    options = ["--runs", "1", "--no-wait", "--quiet"]
    with folder() as place:
        race(args, f"{place}/existing", options, ["true", "true"])
        for number in range(3 if args.quick else STARTS):
            for journal, store in (("new", f"new-{number}"), ("existing", "existing")):
                notes = Path(place) / f"notes-{journal}-{number}"
                stamp = f"{meter} stamp {notes}"
                race(args, f"{place}/{store}", options, [stamp] * 2, [meter, "run", notes])
                times = read_meter(notes)
                milliseconds = (times["stamp"] - times["exec"]) / 1e6
                yield {"what": "start", "journal": journal, "ms": round(milliseconds, 3)}


def memory(args, meter):
    """The most memory that tiebreak had after so many rounds."""
    for _ in range(1 if args.quick else MEMORY_REPEATS):
        for rounds in MEMORY_ROUNDS:
            options = ["--budget", f"{rounds} rounds", "--no-wait", "--quiet", *ENDLESS]
            with folder() as place:
                notes = Path(place) / "notes"
                store, before = f"{place}/store", [meter, "run", notes]
                result = race(args, store, options, ["true", "true"], before)
                peak_bytes = read_meter(notes)["peak"]
            samples = sum(each["samples"] for each in result["contestants"])
            yield {"what": "memory", "samples": samples, "peak_bytes": peak_bytes}


def evidence(_):
    """Time of an update and of an interval, as the bench of the statistics prints them."""
    bench = ["cargo", "bench", "--quiet", "--locked", "--package", "tiebreak-stats"]
    bench += ["--manifest-path", peers.ROOT / "Cargo.toml"]
    text = said([*bench, "--bench", "evidence"])
    row = re.compile(r"^\s*(M4|S2)\s+([\d_]+)\s+([\d.]+)\s+([\d.]+)\s*$", re.MULTILINE)
    for engine, rounds, update_ns, interval_ms in row.findall(text):
        yield {
            "what": "evidence",
            "engine": engine,
            "rounds": int(rounds),
            "update_ns": float(update_ns),
            "interval_ms": float(interval_ms),
        }
