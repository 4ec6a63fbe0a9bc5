#!/usr/bin/python3 -B
"""What the slot effect, strata and time on the CPU gain on processes of 3 ms next to a neighbour.

A program is raced with itself and with one that does 2% more work while a neighbour works on their
CPU in short bursts, with rounds that wait until it is idle and without. Each race records its
rounds without a verdict. The same rounds are then looked at in each way, from the first one on, so
that the ways differ in nothing else. Each race is written down as soon as it was run, so that an
experiment that was cut off goes on where it was. The tables in docs/manual/sooner.md are then drawn
from the data.
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

DATA = peers.ROOT / "docs" / "measured" / "sooner.json"
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


def race(args, work, neighbour, data, case, duty, waits, number):
    """Records the rounds of one race next to its neighbour and looks at them in each way."""
    steps = data["settings"]["steps"]
    commands = [f"{work} {steps}", f"{work} {round(steps * (1 + MORE_WORK[case]))}"]
    with tempfile.TemporaryDirectory(dir=peers.BUILT) as folder:
        store, journal = f"{folder}/store", f"{folder}/run.jsonl"
        options = [*ENDLESS, "--budget", f"{SETTINGS['rounds']} rounds", "--cpus", str(args.cpu)]
        options += [] if waits else ["--no-wait"]
        command = [args.tiebreak, "compare", *options, "--quiet", "--store", store, *commands]
        pinned = ["taskset", "-c", str(args.cpu)]
        neighbour_process = subprocess.Popen([*pinned, neighbour, str(SEED + number), str(duty)])
        try:
            start = time.monotonic()
            said([*pinned, *command], (0, 1, 2))
            seconds = time.monotonic() - start
        finally:
            neighbour_process.kill()
            neighbour_process.wait()
        said([args.tiebreak, "export", "latest", "--store", store, "--journal", journal])
        found = json.loads(said([AGAIN, journal]))
    named = {"case": case, "duty": duty, "waits": waits, "number": number}
    return {**named, "seconds": round(seconds, 3), **found}


def run(args, work, neighbour, data):
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
    end = time.monotonic() + 3600 * args.hours
    for i, item in enumerate(left):
        if time.monotonic() > end:
            print(f"sooner: {args.hours} hours are over", file=sys.stderr)
            return
        made = race(args, work, neighbour, data, *item)
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


def main():
    """Measures, and draws the tables."""
    quick_data = peers.BUILT / "sooner-quick.json"
    args = peers.arguments(__doc__, "bench/sooner/sooner.py", "a few races", DATA, quick_data)
    build = ["cargo", "build", "--release", "--quiet", "--locked"]
    example = ["--package", "tiebreak-stats", "--example", "sooner"]
    subprocess.run([*build, *example], check=True, cwd=peers.ROOT)
    work, neighbour = peers.compile_programs()
    return peers.finish("sooner", args, lambda: run(args, work, neighbour, start_data(args, work)))


if __name__ == "__main__":
    sys.exit(main())
