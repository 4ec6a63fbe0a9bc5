// The runner protocol of tiebreak for Node and Bun: docs/runner-protocol.md.
//
// A contestant is a function that gets the input and gives an object:
//
//   const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);
//   serve((input, workload) => ({
//     run: () => checksum,      // timed: the whole workload once; a BigInt, or an integer from 0
//     dump: () => "the answer", // not timed: the answer of the last run, as text or bytes
//     reset: () => {},          // optional, not timed, before each run
//   }));
//
// `input` is a Buffer; `workload` has name, distribution, size, items and seed as study.toml and
// the laboratory say them. Instead of `run` there may be `parts`, an array of functions like it:
// each is timed by itself, and the laboratory takes the geometric mean of their times.
//
// Standard output belongs to the protocol: what a contestant prints goes to standard error.

import { openSync, closeSync, readFileSync, readSync, writeSync } from "node:fs";

const VERSION = 1;
const NEWLINE = 10;
const MASK = (1n << 64n) - 1n;

// Lines of standard input, read only when one is asked for.
function lineReader() {
  const chunk = Buffer.alloc(1 << 16);
  let rest = Buffer.alloc(0);
  return () => {
    for (;;) {
      const end = rest.indexOf(NEWLINE);
      if (end >= 0) {
        const line = rest.toString("utf8", 0, end);
        rest = rest.subarray(end + 1);
        return line;
      }
      const got = readSync(0, chunk, 0, chunk.length, null);
      if (got === 0) return null;
      rest = Buffer.concat([rest, chunk.subarray(0, got)]);
    }
  };
}

function writeAll(descriptor, data) {
  const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  let at = 0;
  while (at < bytes.length) at += writeSync(descriptor, bytes, at, bytes.length - at);
  return bytes.length;
}

// What a contestant prints must not come between the lines of the protocol.
function redirectOutput() {
  for (const name of ["log", "info", "debug", "table", "dir"]) {
    console[name] = (...words) => console.error(...words);
  }
  process.stdout.write = (...words) => process.stderr.write(...words);
}

// NAME=VALUE words; the last one, path, goes to the end of the line.
function fields(text) {
  const found = {};
  const at = text.indexOf("path=");
  const words = at < 0 ? text : text.slice(0, at);
  if (at >= 0) found.path = text.slice(at + "path=".length);
  for (const word of words.split(" ").filter((word) => word.length > 0)) {
    const equals = word.indexOf("=");
    found[word.slice(0, equals)] = word.slice(equals + 1);
  }
  return found;
}

function checksum(value) {
  if (typeof value === "bigint") return value & MASK;
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new TypeError(`a checksum is a BigInt or an integer from 0, not ${String(value)}`);
}

// Runs it so many times: the time and the checksum, which must be the same each time.
function batch(run, times) {
  if (times === 0) return [0n, 0n];
  let differs = false;
  const start = process.hrtime.bigint();
  const first = run();
  for (let i = 1; i < times; i++) {
    if (run() !== first) differs = true;
  }
  const elapsed = process.hrtime.bigint() - start;
  if (differs) throw new Error("the checksum changed from one run to the next");
  return [elapsed, checksum(first)];
}

class Server {
  constructor(prepare) {
    this.prepare = prepare;
    this.contestant = null;
  }

  load(text) {
    this.contestant = null;
    const asked = fields(text);
    const workload = {
      name: asked.workload,
      distribution: asked.distribution ?? "",
      size: Number(asked.size ?? 0),
      items: Number(asked.items ?? 0),
      seed: BigInt(asked.seed ?? 0),
    };
    const input = asked.path ? readFileSync(asked.path) : Buffer.alloc(0);
    this.contestant = this.prepare(input, workload);
    return `loaded reset=${this.contestant.reset ? "yes" : "no"}`;
  }

  run(text) {
    const times = Number(text);
    if (!Number.isSafeInteger(times) || times < 0) throw new RangeError(`'${text}' times`);
    const { parts, run } = this.contestant;
    if (!parts) {
      const [elapsed, sum] = batch(run ? () => this.contestant.run() : undefined, times);
      return `ran elapsed_ns=${elapsed} checksum=${sum}`;
    }
    const ran = parts.map((part) => batch(part, times));
    const elapsed = ran.reduce((sum, [ns]) => sum + ns, 0n);
    const sum = ran.reduce((sum, [, value]) => (sum * 31n + value) & MASK, 0n);
    const each = ran.map(([ns]) => ns).join(",");
    return `ran elapsed_ns=${elapsed} checksum=${sum} parts_ns=${each}`;
  }

  reset() {
    this.contestant.reset?.();
    return "reset";
  }

  dump(text) {
    const descriptor = openSync(fields(text).path, "w");
    try {
      return `dumped bytes=${writeAll(descriptor, this.contestant.dump())}`;
    } finally {
      closeSync(descriptor);
    }
  }

  answer(word, rest) {
    switch (word) {
      case "hello": {
        const runtime = process.versions.bun ? "bun" : "node";
        return `hello ${VERSION} ${runtime} ${process.versions[runtime]}`;
      }
      case "load":
        return this.load(rest);
      case "run":
      case "reset":
      case "dump":
        if (this.contestant === null) return "error nothing is loaded";
        return this[word](rest);
      default:
        return `error unknown request '${word}'`;
    }
  }
}

/** Answers the laboratory until it says bye or is gone. */
export function serve(prepare) {
  redirectOutput();
  const server = new Server(prepare);
  const nextLine = lineReader();
  for (let line = nextLine(); line !== null && line !== "bye"; line = nextLine()) {
    const space = line.indexOf(" ");
    const word = space < 0 ? line : line.slice(0, space);
    let answer;
    try {
      answer = server.answer(word, space < 0 ? "" : line.slice(space + 1));
    } catch (error) {
      console.error(error?.stack ?? String(error));
      answer = `error ${String(error)}`;
    }
    writeAll(1, `${answer.replaceAll("\n", " ")}\n`);
  }
  process.exit(0);
}
