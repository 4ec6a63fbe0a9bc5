#!/usr/bin/python3
"""Holds the generator against servers of which the truth is known.

The rate of a server that answers exactly so many requests a second is looked for by --sweep, from
below and from above. And nginx is raced against itself beside a noisy neighbour: a verdict that one
of the two is faster, by time or by latency, is wrong. The table in docs/manual/load.md is drawn
from what came out. Ends with 1 if a rate was not found, or more verdicts were wrong than may be.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import servers  # noqa: E402
from common import ROOT, Problem  # noqa: E402

DATA = ROOT / "docs" / "measured" / "load-truth.csv"

CAPACITY, LOW, HIGH = 20_000, 19_000, 21_000
STARTS = {"below": [], "above": ["--rate", "80000"]}
SWEEPS, RACES = 5, 100
ERROR_PERCENT, BUDGET = 1, "40 rounds, 20s"

NGINX = "nginx -p {dir} -c {dir}/conf -e stderr"
NULL = f"""error = "{ERROR_PERCENT}%"
[[contest]]
load = '''
http --closed --connections 4 --messages 1000 --threads 1 http://127.0.0.1:{{port}}/index.html
'''
claims = ["A is faster than B", "A is faster than B by p99 latency"]
contestants = {{ A = "{NGINX}", B = "{NGINX}" }}
prepare = "FOLDER/prepare {{port}} {{dir}}"
"""
PREPARE = """#!/bin/sh
echo ok > "$2/index.html"
sed "s,PORT,$1,g; s,PLACE,$2,g" {settings} > "$2/conf"
"""
# Busy for up to 200 ms, then idle for as long as it likes, up to the same.
NEIGHBOUR = """
import random, time
while True:
    end = time.monotonic() + 0.2 * random.random()
    while time.monotonic() < end: pass
    time.sleep(0.2 * random.random())
"""


class Neighbour:
    """Keeps a CPU busy now and then, for as long as the block runs."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", NEIGHBOUR])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def asked(command, out):
    """What a command of tiebreak has written to a file; a verdict is no failure."""
    ran = subprocess.run([*command, "--quiet", "--json", out], capture_output=True, text=True)
    if ran.returncode > 3:
        raise Problem(f"{' '.join(map(str, command))}: {ran.stderr.strip()}")
    return json.loads(Path(out).read_text())


def swept(args, folder):
    """Rows of the search for the capacity, and whether it was found each time."""
    rows, all_found = [], True
    for start, words in STARTS.items():
        found, right = [], 0
        for _ in range(args.sweeps):
            with servers.Made("paced", str(CAPACITY)) as url:
                command = [args.tiebreak, "load", "http", url, "--sweep", "--duration", "2s",
                           *words]
                seen = asked(command, folder / "sweep.json")["saturation"]
            low, high = seen["low_per_second"], seen["high_per_second"]
            found += [low, high or low]
            right += bool(high) and LOW <= low <= CAPACITY <= high <= HIGH
            print(f"load-truth: from {start}: {low} to {high} a second", file=sys.stderr)
        all_found &= right == args.sweeps
        rows.append([f"the rate that a server sustains, looked for from {start}",
                     f"{CAPACITY} a second", f"{min(found)} to {max(found)} a second",
                     f"{right} of {args.sweeps}"])
    return rows, all_found


def raced(args, folder):
    """Rows of the races of a server against itself, and whether no more is wrong than may be."""
    settings, prepare, claims = folder / "settings", folder / "prepare", folder / "claims.toml"
    text = servers.NGINX.replace("{port}", "PORT").replace("{folder}", "PLACE")
    settings.write_text(text.replace("{{", "{").replace("}}", "}"))
    prepare.write_text(PREPARE.format(settings=settings))
    prepare.chmod(0o755)
    claims.write_text(NULL.replace("FOLDER", str(folder)))
    wrong = {"time": 0, "p99 latency": 0}
    for race in range(args.races):
        command = [args.tiebreak, "check", claims, "--budget", BUDGET, "--store",
                   folder / "store.db"]
        run = asked(command, folder / "null.json")["contests"][0]["result"]
        for of, verdict in zip(wrong, run["verdicts"], strict=True):
            if verdict["verdict"] == "void":
                raise Problem(f"race {race}: {verdict}")
            wrong[of] += verdict["verdict"] != "undecided"
        print(f"load-truth: race {race + 1} of {args.races}: wrong {wrong}", file=sys.stderr)
    rows = [[f"{args.races} races of a server against itself, by {of}", "no difference",
             f"{times} wrong verdicts", f"{args.races - times} of {args.races}"]
            for of, times in wrong.items()]
    return rows, max(wrong.values()) <= args.races * ERROR_PERCENT / 100


def main():
    """Measures, draws the table, and fails if more is wrong than may be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sweeps", type=int, default=SWEEPS, help="from each side")
    parser.add_argument("--races", type=int, default=RACES, help="of a server against itself")
    parser.add_argument("--quick", action="store_true", help="no table")
    parser.add_argument("--tiebreak", default="target/release/tiebreak", help="which")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.environ["PATH"] += ":/usr/sbin"
    try:
        with tempfile.TemporaryDirectory() as place:
            found, all_found = swept(args, Path(place))
            with Neighbour():
                wrong, few_wrong = raced(args, Path(place))
    except (Problem, FileNotFoundError) as problem:
        print(f"load-truth: {problem}", file=sys.stderr)
        return 1
    rows = [*found, *wrong]
    for row in rows:
        print("  ".join(row))
    if not args.quick:
        with DATA.open("w", newline="") as file:
            titles = ["what is asked", "truth", "found", "right"]
            csv.writer(file, lineterminator="\n").writerows([titles, *rows])
        subprocess.run(["cargo", "xtask", "splice", "make", "load-truth"], check=True, cwd=ROOT)
    return 0 if all_found and few_wrong else 1


if __name__ == "__main__":
    sys.exit(main())
