#!/usr/bin/python3 -B
"""Records the noise of this machine: rounds of a program, or of a function, against itself.

Each recording is a run of tiebreak that no evidence ends, next to processes that share its CPU,
which end with it. It is a line of lab/stats/tests/data/noise.txt, which `make rounds` reads: the
machine, what was recorded, and the log ratio of each round in millionths. The lines of other
machines stay, those of this one are written anew.

With --published, nothing is run: the times of functions that docs/measured/study-*.json hold are
drawn in pairs, independently. So those lines have the modes and the spikes of that machine, but not
what lasts from round to round.
"""

import argparse
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "lab/stats/tests/data/noise.txt"
BUILT = ROOT / "target/tiebreak"
TIEBREAK = ROOT / "target/release/tiebreak"
SEED = 20261125
ROUNDS, SECONDS, ROUNDS_LEAST = 500, 45, 90
ENDLESS = ["--error", "1e-12", "--resolution", "0", "--no-wait", "--quiet"]
CHAIN = ["study", "run", str(ROOT / "bench/scopes/study"), "--order"]
CHAIN += ["--contestants", "chain-one,chain-two"]

# What is recorded, next to how many processes that work without a pause, or in bursts.
ALONE = (0, "steady")
STEADY, BURSTS = [[(count, manner) for count in (2, 8, 16)] for manner in ("steady", "bursts")]
LOADS = {
    "3 ms": [ALONE, *STEADY, *BURSTS],
    "10 ms": [ALONE, STEADY[0], BURSTS[1]],
    "gzip": [ALONE, BURSTS[0], BURSTS[1]],
    "python": [ALONE, BURSTS[1]],
    "function at layout": [ALONE, BURSTS[1]],
    "function at code": [ALONE, BURSTS[1]],
}
# The names of the machines that were met, by vendor, family and model.
MACHINES = {
    ("AuthenticAMD", 25, 17): "EPYC Zen 4",
    ("AuthenticAMD", 26, 2): "EPYC Zen 5",
    ("GenuineIntel", 6, 207): "Xeon Emerald Rapids",
}
# Of published studies: the most functions, the least different times of one.
PUBLISHED_MOST, TIMES_LEAST = 6, 200


def machine_name(vendor, family, model):
    """The name of a machine, or its numbers."""
    key = (vendor, int(family), int(model))
    return MACHINES.get(key, f"{vendor} {family}/{model}")


def this_machine():
    """The name of this machine."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    parts = (line.split(":", 1) for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, value in parts}
    return machine_name(fields["vendor_id"], fields["cpu family"], fields["model"])


def compile_programs():
    """Compiles the program that is raced and the one that makes the load."""
    BUILT.mkdir(parents=True, exist_ok=True)
    for source in ("peers/work.c", "truth/neighbours.c"):
        program = BUILT / Path(source).stem
        subprocess.run(["cc", "-O2", "-o", program, ROOT / "bench" / source], check=True)


def words_of(what, cpu):
    """The words of the run of tiebreak that races something with itself."""
    if what.startswith("function"):
        return [*CHAIN, "--scope", what.split()[-1]]
    if what == "gzip":
        command = f"gzip -1 -c {ROOT / 'Cargo.lock'}"
    elif what == "python":
        command = "/usr/bin/python3 -S -c pass"
    else:
        work = BUILT / "work"
        said = ["taskset", "-c", str(cpu), work, "--steps", what.split()[0]]
        steps = int(subprocess.run(said, check=True, capture_output=True, text=True).stdout)
        command = f"{work} {steps}"
    return ["compare", command, command]


def record(words, cpu, load):
    """The log ratios of the rounds of one run, in millionths."""
    count, manner = load
    beside = ["taskset", "-c", str(cpu), BUILT / "neighbours", str(count), manner]
    with tempfile.TemporaryDirectory(dir=BUILT) as folder:
        store = ["--store", f"{folder}/store"]
        budget = ["--budget", f"{ROUNDS} rounds, {SECONDS}s", "--cpus", str(cpu)]
        neighbours = subprocess.Popen(beside) if count else None
        try:
            command = [TIEBREAK, *words, *ENDLESS, *budget, *store]
            ran = subprocess.run(command, capture_output=True, text=True)
        finally:
            if neighbours:
                neighbours.kill()
                neighbours.wait()
        if ran.returncode not in (0, 1, 2, 3):
            sys.exit(f"record: tiebreak ended with {ran.returncode}: {ran.stderr.strip()}")
        export = [TIEBREAK, "export", "latest", "--csv", *store]
        rows = subprocess.run(export, check=True, capture_output=True, text=True).stdout
    rounds = {}
    for row in csv.DictReader(io.StringIO(rows)):
        rounds.setdefault(int(row["round"]), {})[row["contestant"]] = float(row["wall_ns"])
    names = sorted(next(iter(rounds.values())))
    pairs = [[one[name] for name in names] for _, one in sorted(rounds.items()) if len(one) == 2]
    return [round(1e6 * math.log(right / left)) for left, right in pairs]


def recordings():
    """Makes every recording, in turn, and gives its line."""
    compile_programs()
    cpu = max(os.sched_getaffinity(0))
    for what, loads in LOADS.items():
        words = words_of(what, cpu)
        for load in loads:
            start = time.monotonic()
            ratios = record(words, cpu, load)
            beside = f"beside {load[0]} {load[1]}" if load[0] else "alone"
            seconds = time.monotonic() - start
            print(f"{what}, {beside}: {len(ratios)} rounds, {seconds:.0f} s", file=sys.stderr)
            if len(ratios) >= ROUNDS_LEAST:
                yield f"{this_machine()} | {what}, {beside} | {' '.join(map(str, ratios))}"


def published():
    """Pairs of the times of functions, as other machines measured them."""
    found = {}
    for path in sorted((ROOT / "docs/measured").glob("study-*.json")):
        for run in json.loads(path.read_text())["runs"]:
            cpu = run["machine"]
            machine = machine_name(cpu["cpu_vendor"], cpu["cpu_family"], cpu["cpu_model_number"])
            for row in run["study"]["rows"]:
                times = (row.get("ecdf") or {"values": []})["values"]
                if len(set(times)) >= TIMES_LEAST:
                    found.setdefault((machine, f"{path.stem[6:]}/{row['name']}"), times)
    drawn = random.Random(SEED)
    for machine, name in drawn.sample(sorted(found), min(len(found), PUBLISHED_MOST)):
        times = found[machine, name]
        pairs = [(drawn.choice(times), drawn.choice(times)) for _ in range(ROUNDS)]
        ratios = [round(1e6 * math.log(right / left)) for left, right in pairs]
        yield f"{machine} | {name}, drawn | {' '.join(map(str, ratios))}"


def main():
    """Records, and writes the lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--published", action="store_true", help="draw from docs/measured instead")
    args = parser.parse_args()
    new = list(published() if args.published else recordings())
    kept = DATA.read_text().splitlines()
    is_made = ", drawn |" if args.published else f"{this_machine()} |"
    old = [line for line in kept if is_made not in line or (", drawn |" in line) != args.published]
    head = [line for line in old if line.startswith("#")]
    lines = [line for line in old if not line.startswith("#")]
    DATA.write_text("\n".join([*head, *sorted([*lines, *new])]) + "\n")


if __name__ == "__main__":
    main()
