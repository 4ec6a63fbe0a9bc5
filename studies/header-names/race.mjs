// What all contestants share: raw headers become objects, as undici's parseHeaders does it.
//
// The input is records: two lengths of 16 bits (little-endian) and the bytes of a name and a value;
// a name length of 0xffff ends a set of headers. A contestant differs from the others in `lookup`
// alone: from the bytes of a name to its lower-case string.

const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);

const END_OF_SET = 0xffff;

function setsOf(input) {
  const sets = [];
  let set = [];
  for (let at = 0; at < input.length;) {
    const nameLength = input.readUInt16LE(at);
    if (nameLength === END_OF_SET) {
      sets.push(set);
      set = [];
      at += 2;
      continue;
    }
    const valueLength = input.readUInt16LE(at + 2);
    const value = at + 4 + nameLength;
    // Each in memory of its own, as if it had come from a socket.
    set.push(Buffer.from(input.subarray(at + 4, value)));
    set.push(Buffer.from(input.subarray(value, value + valueLength)));
    at = value + valueLength;
  }
  return sets;
}

// Values of the same name become an array; where a length is known, the disposition is latin1. The
// checksum is the sum of the lengths of all names.
function makeParse(lookup, checksum) {
  return function parse(headers) {
    const found = {};
    for (let i = 0; i < headers.length; i += 2) {
      const name = lookup(headers[i]);
      checksum.sum += name.length;
      const before = found[name];
      if (before === undefined) {
        found[name] = headers[i + 1].toString("utf8");
      } else if (typeof before === "string") {
        found[name] = [before, headers[i + 1].toString("utf8")];
      } else {
        before.push(headers[i + 1].toString("utf8"));
      }
    }
    if ("content-length" in found && "content-disposition" in found) {
      found["content-disposition"] = Buffer.from(found["content-disposition"]).toString("latin1");
    }
    return found;
  };
}

// Printable ASCII as it is, anything else and '%' as %XX.
function shown(text) {
  return text.replace(/[^!-$&-~ ]/g, (c) => {
    return `%${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

function lines(found, number) {
  return Object.entries(found).map(([name, value]) => {
    const values = (Array.isArray(value) ? value : [value]).map(shown);
    return `${number}\t${shown(name)}\t${values.join("\t")}\n`;
  });
}

/** Races this lookup. */
export function race(lookup) {
  const checksum = { sum: 0 };
  const parse = makeParse(lookup, checksum);
  serve((input) => {
    const sets = setsOf(input);
    const results = sets.map(() => null);
    return {
      run() {
        checksum.sum = 0;
        for (let i = 0; i < sets.length; i++) results[i] = parse(sets[i]);
        return checksum.sum;
      },
      dump: () => results.map((found, i) => lines(found, i + 1).join("")).join(""),
    };
  });
}
