#!/usr/bin/python3 -B
"""Placements by tiebreak and by the linker: can their times be told apart?

Each contestant is raced with itself, placed by tiebreak and linked (`linked = true`), in 200 units
with fresh placements of both. Whether the times of a call differ, `tiebreak exact` says at the
level of 5%: their medians, in pairs of one unit, and their 0.9 quantiles. Each race is written down
as soon as it was run, so that an experiment that was cut off goes on where it was. The table in
docs/manual/placements.md is then drawn from the data.
"""

import csv
import datetime
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import peers  # noqa: E402

DATA = peers.ROOT / "docs" / "measured" / "placements.json"
SETTINGS = {"units": 200, "level": 0.05}
# Study, workload, contestants: of all languages that have placements; at the end branches whose
# speed depends on where they lie.
CASES = [
    (
        "parse-uint8",
        "random-20k",
        "naive from_chars swar fastswar bob david lut switch_case nocheck ours-hash atoi",
    ),
    (
        "byte-table",
        "random-20k",
        "literal-table chain chain-clang bitset-words bitset-bytes rust-table rust-matches d-table",
    ),
    ("sum-energy", "level-1", "naive fast-math accumulators rust"),
    (
        "strength-reduction",
        "level-1",
        "a-gcc-o0 a-gcc-o1 a-clang-o3 b-gcc-o3 b-clang-o1 a-rust-o3",
    ),
    ("string-growth", "n-1k", "libstdcxx libstdcxx-static rust-string"),
    ("bench/scopes/study", "steps", "branches-one branches-more"),
]
TESTS = {"median": ["--paired", "--statistic", "median"], "tail": ["--statistic", "quantile:0.9"]}
BLOCK = re.compile(r"\[\[contestant\]\]\n(?:(?!\n\[).)*", re.S)
LEFT_OUT = re.compile(r"\[\[(?:claim|published)\]\](?:(?!\n\[\[).)*", re.S)


def twins(study, folder):
    """Copies a study with each contestant a second time, linked."""
    shutil.copytree(peers.ROOT / (study if "/" in study else f"studies/{study}"), folder)
    path = folder / "study.toml"
    text = LEFT_OUT.sub("", path.read_text())
    for block in BLOCK.findall(text):
        twin = re.sub(r'^(name = ".*)"$', r'\1-linked"\nlinked = true', block, count=1, flags=re.M)
        text += "\n" + twin.rstrip() + "\n"
    path.write_text(text)


def tiebreak(args, *words):
    """Runs tiebreak and gives what it printed."""
    done = subprocess.run([args.tiebreak, *words], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise peers.Problem(f"tiebreak {' '.join(map(str, words[:4]))} said: {said}")
    return done.stdout


def race(args, folder, workload, name):
    """Races a contestant with its twin and gives, by test, whether their times differ."""
    store, samples, result = (folder / file for file in ("store", "samples.csv", "result.json"))
    for file in (samples, result):
        file.unlink(missing_ok=True)
    pair = ["--contestants", f"{name},{name}-linked", "--only", workload, "--cpus", str(args.cpu)]
    budget = ["--budget", f"{SETTINGS['units']} rounds", "--precision", "0.001%"]
    said = tiebreak(args, "study", "run", folder, *pair, *budget, "--store", store, "--json", "-")
    run = json.loads(said[said.index("{") :])["runs"][0]
    if any(warning["code"] == "linked" for warning in run["warnings"]):
        raise peers.Problem(f"only the linker can place {name}")
    tiebreak(args, "export", "--store", store, "--csv", samples, "--json", result)
    rows = json.loads(result.read_text())["study"]["rows"]
    calls = {one["name"]: one["calls_a_batch"] for one in rows}
    with samples.open() as lines:
        batches = list(csv.DictReader(lines))
    sets = []
    for which in (name, f"{name}-linked"):
        sets.append(folder / f"{which}.txt")
        own = (one["wall_ns"] for one in batches if one["contestant"] == which)
        sets[-1].write_text("".join(f"{int(ns) / calls[which]}\n" for ns in own))
    row = {}
    for test, words in TESTS.items():
        level = ["--alpha", str(SETTINGS["level"]), "--json", "-"]
        said = tiebreak(args, "exact", *sets, *words, *level)
        row[test] = json.loads(said[said.index("{") :])["verdict"] == "holds"
    return row


def chance(found, tests):
    """The probability that so many tests or more find a difference where there is none."""
    level = SETTINGS["level"]
    terms = range(found, tests + 1)
    return sum(math.comb(tests, k) * level**k * (1 - level) ** (tests - k) for k in terms)


def measure(args):
    """Races what was not raced yet."""
    fixed = {"machine": peers.machine(), "settings": SETTINGS}
    head = {"schema": "tiebreak/placements/1", "date": datetime.date.today().isoformat(), **fixed}
    data = {**head, "chance": {}, "races": []}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        if any(data[key] != value for key, value in fixed.items()):
            raise peers.Problem(f"{args.data} is of another machine; --restart begins anew")
    done = {(row["study"], row["contestant"]) for row in data["races"]}
    for study, workload, names in CASES:
        # As deep below the root as a study, whose packages name crates of ours by relative paths.
        folder = peers.ROOT / "target" / "law"
        shutil.rmtree(folder, ignore_errors=True)
        twins(study, folder)
        for name in names.split()[: 1 if args.quick else None]:
            if (study, name) in done:
                continue
            row = {"study": study, "contestant": name}
            row.update(race(args, folder, workload, name))
            data["races"].append(row)
            for test in TESTS:
                found = [one[test] for one in data["races"]]
                data["chance"][test] = chance(sum(found), len(found))
            peers.save(args.data, data, "races")
            print(study, name, {test: row[test] for test in TESTS}, flush=True)


def main():
    """Measures, and draws the table."""
    quick = peers.BUILT / "placements-quick.json"
    args = peers.arguments(__doc__, "bench/placements/law.py", "one of each study", DATA, quick)
    return peers.finish("placements", args, lambda: measure(args))


if __name__ == "__main__":
    sys.exit(main())
