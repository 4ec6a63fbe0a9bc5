#!/usr/bin/python3
"""Compares tiebreak with hyperfine: same programs, same minutes, a bursty neighbour on their CPU.

A program is compared with itself, with one that does 5% more work and with one that does 1% more.
hyperfine gives no verdict, so its exported times are judged by Welch's t-test and by the U test of
Mann and Whitney. Each comparison is written down as soon as it is made, so that a run that was cut
off goes on where it was. The table in README.md is then drawn from the data.
"""

import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scipy import __version__ as scipy_version
from scipy.stats import mannwhitneyu, ttest_ind

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import Problem, machine  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILT = ROOT / "target" / "tiebreak" / "peers"
DATA = ROOT / "docs" / "measured" / "peers.json"
SCHEMA = "tiebreak/peers/1"
SEED = 20260101

# How much more work B does than A, how often that is compared, how often with --quick.
MORE_WORK = {"same": 0.00, "slower5": 0.05, "slower1": 0.01}
COUNTS = {"same": 200, "slower5": 100, "slower1": 100}
QUICK_COUNTS = {"same": 4, "slower5": 2, "slower1": 2}

SETTINGS = {
    "process_ms": 3.0,
    "warmup": 3,
    "runs": 80,
    "error": 0.01,
    "budget_seconds": {"same": 3, "slower5": 3, "slower1": 10},
    # A difference of 1% is as large as the resolution that tiebreak has if nothing is said.
    "resolution": {"same": 0.01, "slower5": 0.01, "slower1": 0},
    "seed": SEED,
}
NEIGHBOUR_DUTY = 0.3


def compile_programs():
    """Compiles the two C programs and gives their paths."""
    BUILT.mkdir(parents=True, exist_ok=True)
    for name, options in (("work", ["-static"]), ("neighbour", ["-lm"])):
        source, program = HERE / f"{name}.c", BUILT / name
        command = ["cc", "-O2", "-Wall", "-o", program, source, *options]
        subprocess.run(command, check=True)
    return BUILT / "work", BUILT / "neighbour"


def version(command):
    """The last word of what a program says of its version."""
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return said.split()[1]


def start_data(args, work):
    """The data of an earlier run of the same kind, or new data without comparisons."""
    tools = {
        "tiebreak": version([args.tiebreak, "--version"]),
        "hyperfine": version(["hyperfine", "--version"]),
        "scipy": scipy_version,
    }
    fixed = {"machine": machine(), "tools": tools, "settings": {**SETTINGS, "cpu": args.cpu}}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        for key, value in fixed.items():
            if {**data[key], "steps": None} != {**value, "steps": None}:
                raise Problem(f"{args.data} is of another {key}; --restart begins anew")
        return data
    steps = ["taskset", "-c", str(args.cpu), work, "--steps", str(SETTINGS["process_ms"])]
    said = subprocess.run(steps, check=True, capture_output=True, text=True).stdout
    fixed["settings"]["steps"] = int(said)
    neighbour = {"duty": NEIGHBOUR_DUTY, "cpu_seconds": 0.0, "wall_seconds": 0.0}
    today = datetime.date.today().isoformat()
    return {
        "schema": SCHEMA,
        "date": today,
        **fixed,
        "neighbour": neighbour,
        "comparisons": [],
    }


def save(path, data, rows):
    """Writes the data, a line a row, whole at every moment."""
    head = [f"  {json.dumps(key)}: {json.dumps(data[key])}" for key in data if key != rows]
    lines = ",\n".join(f"    {json.dumps(row)}" for row in data[rows])
    text = "{\n" + ",\n".join([*head, f'  "{rows}": [\n{lines}\n  ]']) + "\n}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(path)


class Neighbour:
    """The neighbour, for as long as the block runs; its CPU time is added to the data."""

    def __init__(self, program, cpu, record, seed):
        self.command = ["taskset", "-c", str(cpu), program, str(seed)]
        self.record = record

    def __enter__(self):
        self.process = subprocess.Popen(self.command)
        self.cpu_seconds, self.wall_seconds = 0.0, time.monotonic()
        return self

    def count(self):
        """Adds what it used since the last count."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        cpu_seconds = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        wall_seconds = time.monotonic()
        for key, now in (("cpu_seconds", cpu_seconds), ("wall_seconds", wall_seconds)):
            self.record[key] = round(self.record[key] + now - getattr(self, key), 3)
            setattr(self, key, now)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def by_hyperfine(args, case, commands, runs=SETTINGS["runs"]):
    """hyperfine's times, judged by the two tests."""
    with tempfile.TemporaryDirectory(dir=BUILT) as folder:
        export = Path(folder) / "times.json"
        options = ["-N", "-w", str(SETTINGS["warmup"]), "-r", str(runs)]
        command = ["taskset", "-c", str(args.cpu), "hyperfine", *options]
        start = time.monotonic()
        subprocess.run(
            [*command, "--export-json", export, *commands], check=True, capture_output=True
        )
        seconds = time.monotonic() - start
        results = json.loads(export.read_text())["results"]
    a, b = results[0]["times"], results[1]["times"]
    welch = ttest_ind(a, b, equal_var=False)
    u = mannwhitneyu(a, b, alternative="two-sided")
    return {
        "seconds": round(seconds, 3),
        "median_ms": [round(1e3 * result["median"], 4) for result in results],
        "mean_ms": [round(1e3 * result["mean"], 4) for result in results],
        "welch": {"p": float(welch.pvalue), "a_faster": bool(welch.statistic < 0)},
        "u": {"p": float(u.pvalue), "a_faster": bool(u.statistic < len(a) * len(b) / 2)},
    }


def by_tiebreak(args, case, commands):
    """tiebreak's verdict."""
    with tempfile.TemporaryDirectory(dir=BUILT) as folder:
        options = ["--cpus", str(args.cpu), "--error", str(SETTINGS["error"])]
        options += ["--budget", f"{SETTINGS['budget_seconds'][case]}s"]
        options += ["--resolution", str(SETTINGS["resolution"][case])]
        options += ["--store", f"{folder}/store", "--json", "-", "--quiet"]
        start = time.monotonic()
        ran = subprocess.run(
            ["taskset", "-c", str(args.cpu), args.tiebreak, "compare", *options, *commands],
            capture_output=True,
            text=True,
        )
        seconds = time.monotonic() - start
    if ran.returncode not in (0, 1, 2):
        raise Problem(f"tiebreak ended with {ran.returncode}: {ran.stderr.strip()}")
    verdict = json.loads(ran.stdout)["verdicts"][0]
    ratio = verdict["ratio"]
    return {
        "seconds": round(seconds, 3),
        "verdict": verdict["verdict"],
        "faster": faster(verdict["verdict"], ratio),
        "rounds": verdict["rounds"],
        "ratio": [ratio["estimate"], ratio["low"], ratio["high"]],
    }


def faster(verdict, ratio):
    """The side that a verdict calls faster: the ratio is the time of B over that of A."""
    if verdict != "holds":
        return None
    return "A" if ratio["low"] is not None and ratio["low"] >= 1 else "B"


def compare(args, work, data, case, number):
    """Makes one comparison with both tools, in an order drawn for it."""
    steps = data["settings"]["steps"]
    more = round(steps * (1 + MORE_WORK[case]))
    commands = [f"{work} {steps}", f"{work} {more}"]
    tools = [("hyperfine", by_hyperfine), ("tiebreak", by_tiebreak)]
    random.Random(f"{SEED} {case} {number}").shuffle(tools)
    said = {name: judge(args, case, commands) for name, judge in tools}
    return {"case": case, "number": number, "first": tools[0][0], **said}


def run(args, work, neighbour, data):
    """Makes every comparison that is missing, in an order that mixes the cases."""
    counts = QUICK_COUNTS if args.quick else COUNTS
    plan = [(case, number) for case, count in counts.items() for number in range(count)]
    random.Random(SEED).shuffle(plan)
    made = {(made["case"], made["number"]) for made in data["comparisons"]}
    left = [item for item in plan if item not in made]
    end = time.monotonic() + 3600 * args.hours
    with Neighbour(neighbour, args.cpu, data["neighbour"], SEED + len(data["comparisons"])) as busy:
        for i, (case, number) in enumerate(left):
            if time.monotonic() > end:
                print(f"peers: {args.hours} hours are over", file=sys.stderr)
                return
            comparison = compare(args, work, data, case, number)
            data["comparisons"].append(comparison)
            busy.count()
            save(args.data, data, "comparisons")
            ours, peer = comparison["tiebreak"], comparison["hyperfine"]
            print(
                f"peers: {len(plan) - len(left) + i + 1} of {len(plan)}: {case}: "
                f"tiebreak says {ours['verdict']} {ours['faster'] or ''} "
                f"in {ours['seconds']:.1f} s; hyperfine {peer['seconds']:.1f} s, "
                f"p = {peer['welch']['p']:.2g} (Welch), {peer['u']['p']:.2g} (U)",
                file=sys.stderr,
            )


def arguments(doc, script, few, data, quick_data, own=()):
    """What was typed: the options that all measurements of this kind have, and its own."""
    parser = argparse.ArgumentParser(
        description=doc.split("\n\n")[0],
        epilog=f"example: {script} --quick",
        conflict_handler="resolve",
    )
    parser.add_argument("--quick", action="store_true", help=f"{few}, no table")
    parser.add_argument("--hours", type=float, default=12.0, help="stop after so many hours")
    parser.add_argument("--restart", action="store_true", help="forget what was measured")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="which CPU")
    parser.add_argument("--tiebreak", default=str(ROOT / "target/release/tiebreak"), help="which")
    for option, settings in own:
        parser.add_argument(option, **settings)
    args = parser.parse_args()
    args.data = quick_data if args.quick else data
    args.draws = not args.quick
    args.restart |= args.quick
    return args


def finish(name, args, measure):
    """Measures, and then has the tables drawn that `make NAME` makes; gives the exit status."""
    try:
        measure()
    except Problem as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{name}: what was measured is kept; run it again to go on", file=sys.stderr)
        return 130
    if args.draws:
        subprocess.run(["cargo", "xtask", "splice", "make", name], check=True, cwd=ROOT)
    return 0


def main():
    """Measures, and draws the table."""
    few = "a few comparisons"
    args = arguments(__doc__, "bench/peers/peers.py", few, DATA, BUILT / "quick.json")
    work, neighbour = compile_programs()
    return finish("peers", args, lambda: run(args, work, neighbour, start_data(args, work)))


if __name__ == "__main__":
    sys.exit(main())
