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

// One step of the checksum, of 32 bits (FNV-1a).
const mix = (sum, part) => Math.imul(sum ^ part, 16777619);

// Values of the same name become an array; where a length is known, the disposition is latin1. As
// in undici, a disposition that came twice is an array then, of which Buffer.from makes a byte for
// each value: its number, and 0 for what is none. The checksum has of each header the lengths and a
// letter of the name, and what became of the disposition.
function makeParse(lookup, checksum) {
  return function parse(headers) {
    const found = {};
    for (let i = 0; i < headers.length; i += 2) {
      const name = lookup(headers[i]);
      const value = headers[i + 1].toString("utf8");
      const letter = name.charCodeAt(name.length >> 1);
      checksum.sum = mix(checksum.sum, (name.length << 16) | (value.length << 8) | letter);
      const before = found[name];
      if (before === undefined) {
        found[name] = value;
      } else if (typeof before === "string") {
        found[name] = [before, value];
      } else {
        before.push(value);
      }
    }
    if ("content-length" in found && "content-disposition" in found) {
      const text = Buffer.from(found["content-disposition"]).toString("latin1");
      found["content-disposition"] = text;
      checksum.sum = mix(checksum.sum, (text.length << 8) | text.charCodeAt(0));
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
        return checksum.sum >>> 0;
      },
      dump: () => results.map((found, i) => lines(found, i + 1).join("")).join(""),
    };
  });
}
