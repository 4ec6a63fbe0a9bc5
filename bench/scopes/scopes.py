#!/usr/bin/python3 -B
"""The same code against itself, next to a noisy neighbour: how often is a difference proven?

Functions are raced with themselves, as two builds of one source with other symbol names, and with
versions that do 2% more work: at scope `code`, where each unit has placements of its own; at scope
`layout`, where one placement is all that is seen; and with 32 placements drawn again and again, to
show what that does. Each race is written down as soon as it was run, so that an experiment that was
cut off goes on where it was. The table in README.md is then drawn from the data.
"""

import datetime
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import peers  # noqa: E402

STUDY = Path(__file__).resolve().parent / "study"
DATA = peers.ROOT / "docs" / "measured" / "scopes.json"
SCHEMA = "tiebreak/scopes/1"
SEED = 20260404

# What is raced, at which scope, with which further options, and how often: here, with --full, with
# --quick. The first three cases and the reused placements race a thing with itself.
CASES = {
    "chain code": (["chain-one", "chain-two"], "code", ["--budget", "3s"], (100, 500, 1)),
    "branches code": (["branches-one", "branches-two"], "code", ["--budget", "3s"], (100, 500, 1)),
    "branches layout": (
        ["branches-one", "branches-two"],
        "layout",
        ["--budget", "1s"],
        (40, 50, 1),
    ),
    "branches reused": (
        ["branches-one", "branches-two"],
        "code",
        ["--placements", "32", "--resolution", "0", "--budget", "1000 rounds"],
        (20, 60, 1),
    ),
    "chain more layout": (["chain-one", "chain-more"], "layout", ["--budget", "1s"], (60, 200, 1)),
    "chain more code": (["chain-one", "chain-more"], "code", ["--budget", "10s"], (60, 200, 1)),
    "branches more code": (
        ["branches-one", "branches-more"],
        "code",
        ["--resolution", "0", "--budget", "60s"],
        (20, 40, 1),
    ),
}
SETTINGS = {"error": 0.01, "neighbour_duty": peers.NEIGHBOUR_DUTY, "seed": SEED}
# The noise of units, for a forecast: a race that no evidence ends.
PILOT = ["--error", "1e-12", "--resolution", "0", "--budget", "200 rounds"]


def study_run(args, store, contestants, scope, options):
    """One race of two contestants, and which of them is faster, as its JSON tells."""
    command = [args.tiebreak, "study", "run", str(STUDY), "--contestants", ",".join(contestants)]
    command += ["--order", "--scope", scope, "--cpus", str(args.cpu), "--store", store]
    command += ["--json", "-", "--quiet", *options]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 1, 2):
        words = " ".join(command[:6])
        raise peers.Problem(f"{words} ended with {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)["runs"][0]


def forecast(args):
    """How many units a difference of 2% needs, by `tiebreak power` from the noise of a pilot."""
    print("scopes: the noise of 200 units, for a forecast", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        store = f"{folder}/store"
        pair = CASES["branches code"][0]
        study_run(args, store, pair, "code", PILOT)
        command = [args.tiebreak, "power", "--pilot", "latest", "--store", store]
        command += ["--difference", "2%", "--resolution", "0", "--error", str(SETTINGS["error"])]
        command += ["--budget", "100000 rounds", "--json", "-"]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode not in (0, 2):
            raise peers.Problem(f"tiebreak power ended with {ran.returncode}: {ran.stderr.strip()}")
    said = json.loads(ran.stdout)
    row = said["rows"][0]
    return {"noise": said["noise"]["deviation"], "units_median": row["rounds_median"]}


def start_data(args):
    """The data of an earlier run of the same kind, or new data without races."""
    tools = {"tiebreak": peers.version([args.tiebreak, "--version"])}
    fixed = {"machine": peers.machine(), "tools": tools, "settings": {**SETTINGS, "cpu": args.cpu}}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        for key, value in fixed.items():
            if data[key] != value:
                raise peers.Problem(f"{args.data} is of another {key}; --restart begins anew")
        return data
    return {
        "schema": SCHEMA,
        "date": datetime.date.today().isoformat(),
        **fixed,
        "neighbour": {
            "duty": SETTINGS["neighbour_duty"],
            "cpu_seconds": 0.0,
            "wall_seconds": 0.0,
        },
        "forecast": forecast(args),
        "races": [],
    }


def race(args, case, number):
    """One race of a case, in a store of its own."""
    contestants, scope, options, _ = CASES[case]
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        error = ["--error", str(SETTINGS["error"])]
        run = study_run(args, f"{folder}/store", contestants, scope, [*error, *options])
    verdict = run["verdicts"][0]
    ratio = verdict["ratio"]
    # The question is about the second contestant: the ratio is the time of the first over its own.
    side = peers.faster(verdict["verdict"], ratio)
    faster = {"A": "second", "B": "first", None: None}[side]
    return {
        "case": case,
        "number": number,
        "verdict": verdict["verdict"],
        "faster": faster,
        "units": verdict["rounds"],
        "seconds": round(verdict["seconds"], 4),
        "rounds_a_unit": run["study"]["rounds_a_unit"],
        "ratio": [ratio["estimate"], ratio["low"], ratio["high"]],
    }


def run(args, neighbour):
    """Runs every race that is missing, in an order that mixes the cases."""
    data = start_data(args)
    which = 2 if args.quick else int(args.full)
    counts = {case: counts[which] for case, (*_, counts) in CASES.items()}
    plan = [(case, number) for case, count in counts.items() for number in range(count)]
    random.Random(SEED).shuffle(plan)
    made = {(made["case"], made["number"]) for made in data["races"]}
    left = [item for item in plan if item not in made]
    end = time.monotonic() + 3600 * args.hours
    seed = SEED + len(data["races"])
    with peers.Neighbour(neighbour, args.cpu, data["neighbour"], seed) as busy:
        for i, (case, number) in enumerate(left):
            if time.monotonic() > end:
                print(f"scopes: {args.hours} hours are over", file=sys.stderr)
                return
            made = race(args, case, number)
            data["races"].append(made)
            busy.count()
            peers.save(args.data, data, "races")
            print(
                f"scopes: {len(plan) - len(left) + i + 1} of {len(plan)}: {case}: "
                f"{made['verdict']} {made['faster'] or ''} after {made['units']} units, "
                f"{made['seconds']:.1f} s",
                file=sys.stderr,
            )


def main():
    """Measures, and draws the table."""
    full = "--full" in sys.argv
    if full:
        sys.argv.remove("--full")
    quick_data = peers.BUILT / "scopes-quick.json"
    args = peers.arguments(__doc__, "bench/scopes/scopes.py", "a few races", DATA, quick_data)
    args.full = full
    _, neighbour = peers.compile_programs()
    return peers.finish("scopes", args, lambda: run(args, neighbour))


if __name__ == "__main__":
    sys.exit(main())
