#!/usr/bin/python3
"""Counts false verdicts on the real clock: things of known ratio, beside other work on their CPU.

A program, a function and a Python runner are compared with themselves and with one that does 2%
more work, beside nothing, and beside 2, 8 and 16 other processes, steady and in bursts. hyperfine,
judged by Welch's t-test, stands beside the programs. Each comparison is written down as soon as it
is made, so that a run that was cut off goes on where it was. The table is drawn from the data.
"""

import datetime
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))

import peers  # noqa: E402

HERE = Path(__file__).resolve().parent
DATA = ROOT / "docs" / "measured" / "truth-real.json"
SCHEMA = "tiebreak/truth-real/1"
SEED = 20260707
# Comparisons a cell: here, with --quick.
COUNTS = (100, 2)

SETTINGS = {"process_ms": 2.0, "runs": 80, "error": 0.05, "budget_seconds": 2, "seed": SEED}

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


def verdict(args, words):
    """The first verdict of a run of tiebreak, on the CPU of the neighbours."""
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        options = ["--cpus", str(args.cpu), "--error", str(SETTINGS["error"])]
        options += ["--budget", f"{SETTINGS['budget_seconds']}s"]
        options += ["--store", f"{folder}/store", "--json", "-", "--quiet"]
        ran = subprocess.run([args.tiebreak, *words, *options], capture_output=True, text=True)
    if ran.returncode not in (0, 1, 2, 3):
        said = ran.stderr.strip()
        raise peers.Problem(f"tiebreak {words[0]} ended with {ran.returncode}: {said}")
    result = json.loads(ran.stdout)
    return (result["runs"][0] if "runs" in result else result)["verdicts"][0]


def judged(slower, faster, close, missed):
    """What was said, held against what is so; `faster` is the side that was called faster."""
    if not slower:
        return {"found": False, "wrong": faster is not None, "missed": missed}
    # A difference beyond the resolution is denied by "too close" as well.
    return {"found": faster == "A", "wrong": faster == "B" or close, "missed": None}


def ours(args, what, slower, commands):
    """tiebreak's verdict, held against the truth."""
    if what == "programs":
        said = verdict(args, ["compare", *commands])
        sides = {"A": "A", "B": "B", None: None}
    else:
        study, (one, same, more) = STUDIES[what]
        names = f"{one},{more if slower else same}"
        said = verdict(args, ["study", "run", str(study), "--contestants", names, "--order"])
        # The question is about the second contestant: its ratio is the other way round.
        sides = {"A": "B", "B": "A", None: None}
    if said["verdict"] == "void":
        # All of them are honest.
        return {"found": False, "wrong": True, "missed": None}
    ratio = said["ratio"]
    low, high = ratio["low"], ratio["high"]
    missed = (low is not None and low > 1) or (high is not None and high < 1)
    faster = sides[peers.faster(said["verdict"], ratio)]
    return judged(slower, faster, said["verdict"] == "too close", missed)


def welch(args, slower, commands):
    """What Welch's test says of hyperfine's times."""
    test = peers.by_hyperfine(args, None, commands)["welch"]
    is_proven = test["p"] < SETTINGS["error"]
    faster = ("A" if test["a_faster"] else "B") if is_proven else None
    # The 95% interval of the difference leaves 0 out if and only if the test rejects.
    return judged(slower, faster, False, is_proven)


def compare(args, work, steps, load, what, slower, number):
    """Makes one comparison, beside its load."""
    commands = [f"{work} {steps}", f"{work} {round(steps * (1.02 if slower else 1))}"]
    with Neighbours(args.cpu, *LOADS[load]):
        said = {"tiebreak": ours(args, what, slower, commands), "welch": None}
        if what == "programs":
            said["welch"] = welch(args, slower, commands)
    return {"load": load, "what": what, "slower": slower, "number": number, **said}


def start_data(args, work):
    """The data of an earlier run of the same kind, or new data without comparisons."""
    tools = {
        "tiebreak": peers.version([args.tiebreak, "--version"]),
        "hyperfine": peers.version(["hyperfine", "--version"]),
        "scipy": peers.scipy_version,
    }
    fixed = {"machine": peers.machine(), "tools": tools, "settings": {**SETTINGS, "cpu": args.cpu}}
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


def run(args, work, data):
    """Makes every comparison that is missing, in an order that mixes the cells."""
    count = COUNTS[1] if args.quick else COUNTS[0]
    whats = ["programs", *STUDIES]
    cells = [(load, what, slower) for load in LOADS for what in whats for slower in (False, True)]
    plan = []
    for number in range(count):
        # Each cell once before any cell again, so that a run that was cut off has some of each.
        random.Random(f"{SEED} {number}").shuffle(cells)
        plan += [(*cell, number) for cell in cells]
    made = {tuple(one[key] for key in ("load", "what", "slower", "number"))
            for one in data["comparisons"]}
    end = time.monotonic() + 3600 * args.hours
    for i, item in enumerate(plan):
        if item in made:
            continue
        if time.monotonic() > end:
            print(f"truth: {args.hours} hours are over", file=sys.stderr)
            return
        comparison = compare(args, work, data["steps"], *item)
        data["comparisons"].append(comparison)
        peers.save(args.data, data, "comparisons")
        print(f"truth: {i + 1} of {len(plan)}: {comparison}", file=sys.stderr)


def main():
    """Measures, and draws the table."""
    few = "two comparisons a cell"
    quick = peers.BUILT / "truth-quick.json"
    args = peers.arguments(__doc__, "bench/truth/truth.py", few, DATA, quick)
    work, _ = peers.compile_programs()
    compile_neighbours()
    return peers.finish("truth", args, lambda: run(args, work, start_data(args, work)))


if __name__ == "__main__":
    sys.exit(main())
