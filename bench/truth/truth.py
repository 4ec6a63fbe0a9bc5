#!/usr/bin/python3
"""Counts false verdicts on the real clock: things of known ratio, with other work on their CPU.

A program, a function and a Python runner are compared with themselves and with one that does 2%
more work, alone, and next to 2, 8 and 16 other processes, steady and in bursts. hyperfine,
judged by Welch's t-test, stands next to the programs. Each comparison is written down as soon as it
is made, so that a run that was cut off goes on where it was. The table is drawn from the data.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))

import peers  # noqa: E402

HERE = Path(__file__).resolve().parent
DATA = ROOT / "docs" / "measured" / "truth-real.json"
SCHEMA = "tiebreak/truth-real/1"
SEED = 20260707
# Comparisons a cell: of equals, of 2% more work; here, and with --quick. Next to 16 others one of
# runners takes two minutes.
COUNTS = {False: (100, 2), True: (100, 1)}
COUNT_SLOWER_RUNNERS = 25
# A cell is made in so many parts, each next to neighbours that stay.
PARTS = 5

SETTINGS = {
    "process_ms": 2.0,
    "runs": 25,
    "error": 0.05,
    "rounds": {"programs": 40, "functions": 16, "runners": 10},
    # The budget of a comparison that has the CPU for itself; one that shares it has so much more.
    "seconds": 6,
    "seed": SEED,
}

# What else wants the CPU: how many processes, and how.
LOADS = {
    "quiet": (0, "steady"),
    "busy 2": (2, "steady"),
    "busy 2 in bursts": (2, "bursts"),
    "busy 8": (8, "steady"),
    "busy 8 in bursts": (8, "bursts"),
    "busy 16": (16, "steady"),
    "busy 16 in bursts": (16, "bursts"),
}
# The study that has what is compared, and the names there: one, the same again, 2% more work.
STUDIES = {
    "functions": (ROOT / "bench/scopes/study", ["chain-one", "chain-two", "chain-more"]),
    "runners": (HERE / "study", ["python-one", "python-two", "python-more"]),
}
FORMS = ["programs", *STUDIES]


class Neighbours:
    """Other processes on the CPU, for as long as the block runs."""

    def __init__(self, cpu, count, manner):
        program = peers.BUILT / "neighbours"
        self.command = ["taskset", "-c", str(cpu), program, str(count), manner]
        self.count = count

    def __enter__(self):
        self.process = subprocess.Popen(self.command) if self.count else None

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()


def compile_neighbours():
    """Compiles what makes the load."""
    program = peers.BUILT / "neighbours"
    subprocess.run(["cc", "-O2", "-Wall", "-o", program, HERE / "neighbours.c"], check=True)


def at_once(load):
    """How many comparisons are made on a CPU at the same time: as many as there are neighbours."""
    return max(1, LOADS[load][0])


def result(args, item, words):
    """What a run of tiebreak says, on the CPU of the neighbours, and how long it took."""
    load, what, slower, number = item
    share_the_cpu = LOADS[load][0] + at_once(load)
    budget = f"{SETTINGS['rounds'][what]} rounds, {SETTINGS['seconds'] * share_the_cpu}s"
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        options = ["--cpus", str(args.cpu), "--error", str(SETTINGS["error"]), "--no-wait"]
        options += ["--budget", budget, "--seed", f"{SEED} {load} {what} {slower} {number}"]
        options += ["--store", f"{folder}/store", "--json", "-", "--quiet"]
        start = time.monotonic()
        ran = subprocess.run([args.tiebreak, *words, *options], capture_output=True, text=True)
        seconds = time.monotonic() - start
    if ran.returncode not in (0, 1, 2, 3):
        said = ran.stderr.strip()
        raise peers.Problem(f"tiebreak {words[0]} ended with {ran.returncode}: {said}")
    said = json.loads(ran.stdout)
    return (said["runs"][0] if "runs" in said else said), seconds


def judged(slower, faster, close, missed):
    """What was said, held against what is so; `faster` is the side that was called faster."""
    if not slower:
        return {"found": False, "wrong": faster is not None, "missed": missed}
    # A difference beyond the resolution is denied by "too close" as well.
    return {"found": faster == "A", "wrong": faster == "B" or close, "missed": None}


def ours(args, item, commands):
    """tiebreak's verdict, held against the truth."""
    _, what, slower, _ = item
    if what == "programs":
        run, seconds = result(args, item, ["compare", *commands])
        sides = {"A": "A", "B": "B", None: None}
    else:
        study, (one, same, more) = STUDIES[what]
        names = f"{one},{more if slower else same}"
        words = ["study", "run", str(study), "--contestants", names, "--order"]
        run, seconds = result(args, item, words)
        # The question is about the second contestant: its ratio is the other way round.
        sides = {"A": "B", "B": "A", None: None}
    # Who is void before the first round leaves no claim.
    said = (run["verdicts"] or [{"verdict": "void", "rounds": 0}])[0]
    ratio = said.get("ratio") or {}
    low, high = ratio.get("low"), ratio.get("high")
    comparison = {
        "seconds": round(seconds, 1),
        "verdict": said["verdict"],
        "rounds": said["rounds"],
        "ratio": [ratio.get("estimate"), low, high],
    }
    if said["verdict"] == "void":
        # All of them are honest.
        faults = [one["fault"] for one in run["contestants"] if one.get("fault")]
        return {**comparison, "faults": faults, "found": False, "wrong": True, "missed": None}
    missed = (low is not None and low > 1) or (high is not None and high < 1)
    faster = sides[peers.faster(said["verdict"], ratio)]
    return {**comparison, **judged(slower, faster, said["verdict"] == "too_close", missed)}


def welch(args, slower, commands):
    """What Welch's test says of hyperfine's times."""
    measured = peers.by_hyperfine(args, None, commands, SETTINGS["runs"])
    test = measured["welch"]
    is_proven = test["p"] < SETTINGS["error"]
    faster = ("A" if test["a_faster"] else "B") if is_proven else None
    # The 95% interval of the difference leaves 0 out if and only if the test rejects.
    comparison = {"seconds": round(measured["seconds"], 1), "p": test["p"]}
    return {**comparison, **judged(slower, faster, False, is_proven)}


def compare(args, work, steps, item):
    """Makes one comparison."""
    load, what, slower, number = item
    commands = [f"{work} {steps}", f"{work} {round(steps * (1.02 if slower else 1))}"]
    surroundings = {"cpu": args.cpu, "load_average": round(os.getloadavg()[0], 1)}
    said = {"tiebreak": ours(args, item, commands), "welch": None}
    if what == "programs":
        said["welch"] = welch(args, slower, commands)
    return {"load": load, "what": what, "slower": slower, "number": number, **surroundings, **said}


def start_data(args, work):
    """The data of an earlier run of the same kind, or new data without comparisons."""
    tools = {
        "tiebreak": peers.version([args.tiebreak, "--version"]),
        "hyperfine": peers.version(["hyperfine", "--version"]),
        "scipy": peers.scipy_version,
    }
    fixed = {"machine": peers.machine(), "tools": tools, "settings": SETTINGS}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        for key, value in fixed.items():
            if data[key] != value:
                raise peers.Problem(f"{args.data} is of another {key}; --restart begins anew")
        return data
    said = subprocess.run(
        ["taskset", "-c", str(args.cpu), work, "--steps", str(SETTINGS["process_ms"])],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    today = datetime.date.today().isoformat()
    return {"schema": SCHEMA, "date": today, **fixed, "steps": int(said), "comparisons": []}


def count(what, slower, quick):
    """How many comparisons a cell has."""
    most = COUNTS[slower][quick]
    return min(most, COUNT_SLOWER_RUNNERS) if what == "runners" and slower else most


def blocks(args, data):
    """What is to be made, as blocks under one load: each cell has some before any has more.

    A quiet machine has one comparison at a time, so those without load come last, in blocks of
    their own."""
    keys = ("load", "what", "slower", "number")
    made = {tuple(one[key] for key in keys) for one in data["comparisons"]}
    planned = []
    for part in range(PARTS):
        cells = [
            (what, slower, number)
            for what in args.forms
            for slower in COUNTS
            for number in range(part, count(what, slower, args.quick), PARTS)
        ]
        drawn = random.Random(f"{SEED} {part}")
        for load in drawn.sample(args.loads, len(args.loads)):
            items = [(load, *cell) for cell in drawn.sample(cells, len(cells))]
            items = [item for item in items if item not in made]
            planned += [(load, items)] if items else []
    return planned


def share(do, jobs, workers, stop):
    """Has each worker take the next job until none is left; a problem of one stops all."""
    left, turn = iter(jobs), threading.Lock()

    def work_off(worker):
        try:
            while not stop.is_set():
                with turn:
                    job = next(left, None)
                if job is None:
                    return
                do(worker, job)
        except BaseException:
            stop.set()
            raise

    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        try:
            for done in [pool.submit(work_off, worker) for worker in workers]:
                done.result()
        except BaseException:
            stop.set()
            raise


class Measurement:
    """All that the comparisons of a run have in common."""

    def __init__(self, args, work, data, count):
        self.args, self.work, self.data, self.count = args, work, data, count
        self.stop, self.writing = threading.Event(), threading.Lock()
        self.made, self.start = 0, time.monotonic()

    def block(self, cpu, block):
        """Makes the comparisons of a block on a CPU."""
        load, items = block
        args = argparse.Namespace(**{**vars(self.args), "cpu": cpu})
        with Neighbours(cpu, *LOADS[load]):
            share(lambda _, item: self.item(args, item), items, range(at_once(load)), self.stop)

    def item(self, args, item):
        """Makes a comparison, writes it down and says how far it is."""
        comparison = compare(args, self.work, self.data["steps"], item)
        with self.writing:
            self.data["comparisons"].append(comparison)
            peers.save(args.data, self.data, "comparisons")
            self.made += 1
            seconds = time.monotonic() - self.start
            left = seconds / self.made * (self.count - self.made) / 60
            load, what, slower, number = item
            said = comparison["tiebreak"]
            print(
                f"truth: {self.made} of {self.count}, {left:.0f} min left: {what} under {load}, "
                f"{'2% slower' if slower else 'equal'} {number}: {said['verdict']}"
                f"{', WRONG' if said['wrong'] else ''} in {said['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
            if seconds > 3600 * args.hours:
                print(f"truth: {args.hours} hours are over", file=sys.stderr)
                self.stop.set()


def run(args, work, data):
    """Makes every comparison that is missing: next to others on each CPU, alone on one."""
    planned = blocks(args, data)
    count = sum(len(items) for _, items in planned)
    measurement = Measurement(args, work, data, count)
    for is_quiet, cpus in ((False, args.cpus), (True, args.cpus[-1:])):
        jobs = [block for block in planned if (block[0] == "quiet") == is_quiet]
        share(measurement.block, jobs, cpus, measurement.stop)


def listed(known):
    """Reads a list of things that are known by their names."""
    named = {str(thing): thing for thing in known}

    def read(text):
        for name in text.split(","):
            if name not in named:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(named)}")
        return [named[name] for name in text.split(",")]

    return read


def main():
    """Measures, and draws the table."""
    few = "three comparisons a cell"
    quick = peers.BUILT / "truth-quick.json"
    lists = [
        ("--cpu", "cpus", sorted(os.sched_getaffinity(0)), "on these CPUs at the same time: 0,1"),
        ("--loads", "loads", list(LOADS), "under these: 'busy 16,quiet'"),
        ("--forms", "forms", FORMS, "these alone: programs,runners"),
    ]
    own = [
        (option, {"dest": name, "type": listed(known), "default": known, "help": about})
        for option, name, known, about in lists
    ]
    own += [("--to", {"type": Path, "help": "another file for the data, and no table"})]
    args = peers.arguments(__doc__, "bench/truth/truth.py", few, DATA, quick, own)
    if args.to:
        args.data, args.draws = args.to, False
    args.cpu = args.cpus[-1]
    work, _ = peers.compile_programs()
    compile_neighbours()
    return peers.finish("truth", args, lambda: run(args, work, start_data(args, work)))


if __name__ == "__main__":
    sys.exit(main())
