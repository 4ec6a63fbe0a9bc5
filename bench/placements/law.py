#!/usr/bin/python3 -B
"""Placements by tiebreak and by the linker: can their times be told apart?

Each contestant that tiebreak can place is raced with itself, linked (`linked = true`), in 200 units
with fresh placements of both. Whether the two sets of times differ in their median, and in their
0.9 quantile, `tiebreak exact` says at the level of 5%. Prints a row as soon as it is known, and how
often they differ: of equal laws that is 5% of the tests.

    make placements [ARGS="STUDY/WORKLOAD[/CONTESTANT]..."]
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIEBREAK = str(ROOT / "target" / "release" / "tiebreak")
UNITS = 200
CASES = ["parse-uint8/random-20k", "sum-energy/level-1", "string-growth/n-1k"]
BLOCK = re.compile(r"\[\[contestant\]\]\n(?:(?!\n\[).)*", re.S)
LEFT_OUT = re.compile(r"\[\[(?:claim|published)\]\](?:(?!\n\[\[).)*", re.S)


def twins(study, folder):
    """Copies a study with each contestant a second time, linked. Returns their names."""
    shutil.copytree(ROOT / "studies" / study, folder, dirs_exist_ok=True)
    path = folder / "study.toml"
    text = LEFT_OUT.sub("", path.read_text())
    names = []
    for block in BLOCK.findall(text):
        name = re.search(r'^name = "(.*)"', block, re.M).group(1)
        names.append(name)
        twin = block.replace(f'name = "{name}"', f'name = "{name}-linked"\nlinked = true')
        text += "\n" + twin.rstrip() + "\n"
    path.write_text(text)
    return names


def tiebreak(*words):
    return subprocess.run([TIEBREAK, *words], capture_output=True, text=True, check=False)


def differ(samples, name, statistic):
    """Returns whether `tiebreak exact` says that a contestant's two sets of times differ."""
    sets = [f"{samples}:wall_ns:contestant={which}" for which in (name, f"{name}-linked")]
    done = tiebreak("exact", *sets, "--statistic", statistic, "--alpha", "5%", "--json", "-")
    result = json.loads(done.stdout[done.stdout.index("{") :])
    return result["verdict"] == "holds"


def main():
    found = tests = 0
    print(f"{'study':16} {'contestant':24} {'median':>10} {'0.9 quantile':>14}")
    for case in sys.argv[1:] or CASES:
        study, workload, *only = case.split("/")
        # As deep below the root as a study, whose packages name crates of ours by relative paths.
        with tempfile.TemporaryDirectory(dir=ROOT / "target") as place:
            folder = Path(place)
            store, samples = folder / "store", folder / "samples.csv"
            names = twins(study, folder)
            for name in only or names:
                pair = ["--contestants", f"{name},{name}-linked", "--only", workload]
                budget = ["--budget", f"{UNITS} rounds", "--precision", "0.001%"]
                ran = tiebreak("study", "run", folder, *pair, *budget, "--store", store)
                samples.unlink(missing_ok=True)
                tiebreak("export", "--store", store, "--csv", samples)
                lines = samples.read_text().splitlines() if samples.exists() else []
                if ran.returncode > 3 or len(lines) <= 2 * UNITS:
                    why = ran.stderr.strip().splitlines() or ["it was not raced"]
                    print(f"{study:16} {name:24} {why[-1][:60]}", flush=True)
                    continue
                both = [differ(samples, name, one) for one in ("median", "quantile:0.9")]
                tests += 2
                found += sum(both)
                cells = ["differs" if one else "alike" for one in both]
                print(f"{study:16} {name:24} {cells[0]:>10} {cells[1]:>14}", flush=True)
    print(f"{found} of {tests} tests find a difference")


if __name__ == "__main__":
    main()
