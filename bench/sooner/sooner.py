#!/usr/bin/python3 -B
"""What the slot effect, strata and time on the CPU gain on processes of 3 ms beside a neighbour.

A program is raced with itself and with one that does 2% more work while a neighbour works on their
CPU in short bursts, with rounds that wait until it is idle and without. Each race records its
rounds without a verdict. The same rounds are then looked at in each way, from the first one on, so
that the ways differ in nothing else. Each race is written down as soon as it was run, so that an
experiment that was cut off goes on where it was. The tables in docs/manual/sooner.md are then drawn
from the data.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import peers  # noqa: E402

HERE = Path(__file__).resolve().parent
DATA = peers.ROOT / "docs" / "measured" / "sooner.json"
NEIGHBOUR = peers.BUILT / "sooner-neighbour"
AGAIN = peers.ROOT / "target" / "release" / "examples" / "sooner"
SCHEMA = "tiebreak/sooner/1"
SEED = 20260303

# How much more work B does than A, how often that is raced, how often with --quick.
MORE_WORK = {"same": 0.00, "slower2": 0.02}
RACES, QUICK_RACES = 40, 1
# How busy the neighbour would be on a CPU of its own, and whether rounds wait until it is idle.
WORLDS = [(0.2, False), (0.4, False), (0.4, True)]
SETTINGS = {"process_ms": 3.0, "rounds": 600, "error": 0.01, "resolution": 0.01, "seed": SEED}
# No evidence suffices for this, so the budget ends the race.
ENDLESS = ["--error", "1e-12", "--resolution", "0"]


def said(command, statuses=(0,)):
    """What a command prints on standard output."""
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in statuses:
        words = " ".join(str(word) for word in command[:5])
        raise peers.Problem(f"{words} ended with {ran.returncode}: {ran.stderr.strip()}")
    return ran.stdout


def simulated():
    """What the ways are worth where the truth is known."""
    print("sooner: simulating neighbours: about two minutes", file=sys.stderr)
    return json.loads(said([AGAIN, "simulate"]))


def start_data(args, work):
    """The data of an earlier run of the same kind, or new data without races."""
    tools = {"tiebreak": peers.version([args.tiebreak, "--version"])}
    fixed = {"machine": peers.machine(), "tools": tools, "settings": {**SETTINGS, "cpu": args.cpu}}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        for key, value in fixed.items():
            if {**data[key], "steps": None} != {**value, "steps": None}:
                raise peers.Problem(f"{args.data} is of another {key}; --restart begins anew")
        return data
    steps = ["taskset", "-c", str(args.cpu), work, "--steps", str(SETTINGS["process_ms"])]
    fixed["settings"]["steps"] = int(said(steps))
    return {
        "schema": SCHEMA,
        "date": datetime.date.today().isoformat(),
        **fixed,
        "simulated": {} if args.quick else simulated(),
        "races": [],
    }


def race(args, work, data, case, duty, waits, number):
    """Records the rounds of one race beside its neighbour and looks at them in each way."""
    steps = data["settings"]["steps"]
    commands = [f"{work} {steps}", f"{work} {round(steps * (1 + MORE_WORK[case]))}"]
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        store, journal = f"{folder}/store", f"{folder}/run.jsonl"
        options = [*ENDLESS, "--budget", f"{SETTINGS['rounds']} rounds", "--cpus", str(args.cpu)]
        options += [] if waits else ["--no-wait"]
        command = [args.tiebreak, "compare", *options, "--quiet", "--store", store, *commands]
        pinned = ["taskset", "-c", str(args.cpu)]
        beside = subprocess.Popen([*pinned, NEIGHBOUR, str(SEED + number), str(duty)])
        try:
            start = time.monotonic()
            said([*pinned, *command], (0, 1, 2))
            seconds = time.monotonic() - start
        finally:
            beside.kill()
            beside.wait()
        said([args.tiebreak, "export", "latest", "--store", store, "--journal", journal])
        found = json.loads(said([AGAIN, journal]))
    named = {"case": case, "duty": duty, "waits": waits, "number": number}
    return {**named, "seconds": round(seconds, 3), **found}


def run(args, work, data):
    """Runs every race that is missing, in an order that mixes the cases."""
    count = QUICK_RACES if args.quick else RACES
    plan = [
        (case, duty, waits, number)
        for case in MORE_WORK
        for duty, waits in WORLDS
        for number in range(count)
    ]
    random.Random(SEED).shuffle(plan)
    names = ("case", "duty", "waits", "number")
    made = {tuple(made[name] for name in names) for made in data["races"]}
    left = [item for item in plan if item not in made]
    for i, item in enumerate(left):
        made = race(args, work, data, *item)
        data["races"].append(made)
        peers.save(args.data, data, "races")
        ways = [f"{way} {said['rounds'] or 'more'}" for way, said in made["ways"].items()]
        waiting = "waiting" if made["waits"] else "not waiting"
        print(
            f"sooner: {len(plan) - len(left) + i + 1} of {len(plan)}: {made['case']}, "
            f"{100 * made['duty']:.0f}%, {waiting}, {made['seconds']:.0f} s, "
            f"{made['disturbed']} of {made['rounds']} rounds disturbed; "
            f"rounds to a verdict: {', '.join(ways)}",
            file=sys.stderr,
        )


def arguments():
    """What was typed."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="example: bench/sooner/sooner.py --quick",
    )
    parser.add_argument("--quick", action="store_true", help="a few races, no table")
    parser.add_argument("--restart", action="store_true", help="forget what was measured")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="which CPU")
    tiebreak = str(peers.ROOT / "target/release/tiebreak")
    parser.add_argument("--tiebreak", default=tiebreak, help="which")
    args = parser.parse_args()
    args.data = peers.BUILT / "sooner-quick.json" if args.quick else DATA
    args.restart |= args.quick
    return args


def main():
    """Measures, and draws the tables."""
    args = arguments()
    build = ["cargo", "build", "--release", "--quiet", "--locked"]
    example = ["--package", "tiebreak-stats", "--example", "sooner"]
    subprocess.run([*build, *example], check=True, cwd=peers.ROOT)
    work, _ = peers.compile_programs()
    compile_neighbour = ["cc", "-O2", "-Wall", "-o", NEIGHBOUR, HERE / "neighbour.c", "-lm"]
    subprocess.run(compile_neighbour, check=True)
    try:
        data = start_data(args, work)
        run(args, work, data)
    except peers.Problem as problem:
        print(f"sooner: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsooner: what was measured is kept; run it again to go on", file=sys.stderr)
        return 130
    if not args.quick:
        subprocess.run(["cargo", "xtask", "splice", "make", "sooner"], check=True, cwd=peers.ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
