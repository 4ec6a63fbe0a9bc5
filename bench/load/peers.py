#!/usr/bin/python3
"""Asks load generators how slow a server is that stops for 100 ms once a second.

Each asks the same server (server.py) at the same rate over as many connections for as long, and
says its percentiles of the latency. The truth is arithmetic: a request that is to be sent while the
server stands waits for the rest of the stop. What some of them cannot say, or do not let one ask
for, stands in the data as it is. The table in README.md is then drawn from the data.
"""

import argparse
import csv
import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import servers  # noqa: E402
from common import ROOT, Problem, machine  # noqa: E402

DATA = ROOT / "docs" / "measured" / "load-peers.json"
QUICK = ROOT / "target" / "tiebreak" / "load-peers-quick.json"
SCHEMA = "tiebreak/load-peers/1"

RATE, CONNECTIONS = 500, 10
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
EACH = RATE // CONNECTIONS

MS = {"ns": 1e-6, "us": 1e-3, "\u00b5s": 1e-3, "ms": 1.0, "s": 1e3}


def said(command, **options):
    """What a program prints, whatever it says on the side."""
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    if ran.returncode not in (0, 1, 2):
        raise Problem(f"{command[0]} ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    return ran.stdout


def quantiles(latencies_ms):
    """The percentiles of latencies that a program has written one by one."""
    ordered = sorted(latencies_ms)
    return {
        name: ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None
        for name, share in SHARES.items()
    }


def text_quantiles(text, pattern):
    """The percentiles in lines such as '99%  1.5ms'; the pattern has the share and the time."""
    found = {float(share): time for share, time in re.findall(pattern, text)}
    return {name: found.get(100 * share) for name, share in SHARES.items()}


def in_ms(time):
    """A time such as 1.5ms."""
    if time is None:
        return None
    number, unit = re.fullmatch(r"([0-9.]+)\s*(\w+)", time).groups()
    return float(number) * MS[unit]


def tiebreak(args, url, seconds, folder):
    out = folder / "ours.json"
    said([args.tiebreak, "load", "http", url, "--rate", str(RATE), "--connections",
          str(CONNECTIONS), "--duration", f"{seconds}s", "--json", str(out), "--quiet"])
    latencies = json.loads(out.read_text())["loads"][0]["latencies"]
    found = {at["share"]: at["high_ns"] / 1e6 for at in latencies}
    return {name: found.get(share) for name, share in SHARES.items()}


def wrk(args, url, seconds, folder):
    text = said(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", url])
    found = text_quantiles(text, r"(\d+)%\s+([0-9.]+[a-z]+)")
    return {name: in_ms(time) for name, time in found.items()}


def ab(args, url, seconds, folder):
    out = folder / "ab.csv"
    said(["ab", "-q", "-k", "-c", str(CONNECTIONS), "-t", str(seconds), "-n", "100000000", "-e",
          str(out), url])
    rows = list(csv.reader(out.read_text().splitlines()[1:]))
    return {name: float(rows[int(100 * share)][1]) if share < 0.995 else None
            for name, share in SHARES.items()}


def hey(args, url, seconds, folder):
    rows = csv.DictReader(said(["hey", "-c", str(CONNECTIONS), "-q", str(EACH), "-z",
                                f"{seconds}s", "-o", "csv", url]).splitlines())
    return quantiles(1e3 * float(row["response-time"]) for row in rows)


def h2load(args, url, seconds, folder):
    out = folder / "h2load.log"
    said(["h2load", "--h1", "-c", str(CONNECTIONS), "--rps", str(EACH), "-D", str(seconds),
          f"--log-file={out}", url])
    return quantiles(float(line.split("\t")[2]) / 1e3 for line in out.read_text().splitlines())


def oha(args, url, seconds, folder, *more):
    out = said(["oha", "--no-tui", "--output-format", "json", "-q", str(RATE), "-c",
                str(CONNECTIONS), "-z", f"{seconds}s", *more, url])
    found = json.loads(out)["latencyPercentiles"]
    return {name: 1e3 * found[name.replace("_", ".")] for name in SHARES}


def oha_corrected(args, url, seconds, folder):
    return oha(args, url, seconds, folder, "--latency-correction")


def vegeta(args, url, seconds, folder):
    attack, target = folder / "vegeta.bin", f"GET {url}\n"
    said(["vegeta", "attack", f"-rate={RATE}", f"-duration={seconds}s", f"-workers={CONNECTIONS}",
          f"-output={attack}"], input=target)
    lines = said(["vegeta", "encode", "-to", "json", str(attack)]).splitlines()
    return quantiles(json.loads(line)["latency"] / 1e6 for line in lines)


def fortio(args, url, seconds, folder):
    out = folder / "fortio.json"
    said(["fortio", "load", "-quiet", "-qps", str(RATE), "-c", str(CONNECTIONS), "-t",
          f"{seconds}s", "-r", "0.0001", "-p", "50,95,99,99.9", "-json", str(out), url])
    asked = json.loads(out.read_text())["DurationHistogram"]["Percentiles"]
    found = {at["Percentile"]: 1e3 * at["Value"] for at in asked}
    return {name: found[100 * share] for name, share in SHARES.items()}


K6 = """
import http from 'k6/http';
export const options = {
  scenarios: { constant: { executor: 'constant-arrival-rate', rate: RATE, timeUnit: '1s',
    duration: 'SECONDSs', preAllocatedVUs: CONNECTIONS, maxVUs: 1000 } },
  summaryTrendStats: ['p(50)', 'p(95)', 'p(99)', 'p(99.9)'],
};
export default function () { http.get('URL'); }
"""


def k6(args, url, seconds, folder):
    script, out = folder / "load.js", folder / "k6.json"
    values = {"RATE": RATE, "SECONDS": seconds, "CONNECTIONS": CONNECTIONS, "URL": url}
    text = K6
    for name, value in values.items():
        text = text.replace(name, str(value))
    script.write_text(text)
    said(["k6", "run", "--quiet", f"--summary-export={out}", str(script)])
    found = json.loads(out.read_text())["metrics"]["http_req_duration"]
    return {name: found[f"p({100 * share:g})"] for name, share in SHARES.items()}


def autocannon(args, url, seconds, folder):
    out = said(["autocannon", "-j", "-R", str(RATE), "-c", str(CONNECTIONS), "-d", str(seconds),
                url])
    found = json.loads(out)["latency"]
    return {name: found.get(name) for name in SHARES}


# Each, the words that ask for its version, and what one cannot ask it for or it does not say.
GENERATORS = {
    "tiebreak": (tiebreak, ["--version"], ""),
    "wrk": (wrk, ["-v"], "no rate can be asked for"),
    "hey": (hey, None, ""),
    "ab": (ab, ["-V"], "no rate can be asked for; whole ms, up to 99%"),
    "h2load": (h2load, ["--version"], ""),
    "oha": (oha, ["--version"], ""),
    "oha --latency-correction": (oha_corrected, ["--version"], ""),
    "k6": (k6, ["version"], "more connections while requests are late"),
    "vegeta": (vegeta, None, "more connections while requests are late"),
    "fortio": (fortio, ["version"], ""),
    "autocannon": (autocannon, ["--version"], "whole ms, no 95%"),
}


def version(program, words):
    """The version that a program says it has; `None` if it is not here."""
    try:
        ran = subprocess.run([program, *(words or [])], capture_output=True, text=True, timeout=20)
    except FileNotFoundError:
        return None
    found = re.search(r"\d+(\.\d+)+", ran.stdout + ran.stderr) if words else None
    return found.group() if found else ""


def measure(args, seconds):
    """A row for each generator: what it says of a server that was started for it alone."""
    rows = []
    for name, (ask, words, note) in GENERATORS.items():
        program = args.tiebreak if name == "tiebreak" else name.split()[0]
        found = version(program, words)
        row = {"name": name, "version": found, "note": note}
        if found is None:
            row["missing"] = f"{program} is not installed"
        else:
            with servers.Made("stalls") as url, tempfile.TemporaryDirectory() as folder:
                row["said_ms"] = ask(args, url, seconds, Path(folder))
        print(f"load-peers: {name}: {row.get('said_ms', row.get('missing'))}", file=sys.stderr)
        rows.append(row)
    return rows


def main():
    """Measures, and draws the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 s each, no table")
    parser.add_argument("--tiebreak", default=str(ROOT / "target/release/tiebreak"), help="which")
    args = parser.parse_args()
    seconds = 3 if args.quick else 20
    os.environ["PATH"] += f":{ROOT / 'target/tools/bin'}"
    try:
        rows = measure(args, seconds)
    except Problem as problem:
        print(f"load-peers: {problem}", file=sys.stderr)
        return 1
    data = {
        "schema": SCHEMA,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "settings": {"rate_per_second": RATE, "connections": CONNECTIONS, "seconds": seconds},
        "truth_ms": {name: max(0.0, 100 - 1000 * (1 - share)) for name, share in SHARES.items()},
        "generators": rows,
    }
    path = QUICK if args.quick else DATA
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")
    if not args.quick:
        subprocess.run(["cargo", "xtask", "splice", "make", "load-peers"], check=True, cwd=ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
