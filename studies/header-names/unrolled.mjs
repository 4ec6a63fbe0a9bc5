// Ours: a switch by length whose one case looks at one place, at which all candidates of the length
// differ (or at two, packed), and then at all bytes of the only candidate left in one expression
// without a branch: differences are OR-ed. Generated.
//
// For a letter, (s | 32) ^ letter is 0 for its two cases and nothing else; other bytes are compared
// as they are.
import { LOWER, code, groups, isLetter } from "./names.mjs";
import { race } from "./race.mjs";

const difference = (at, c) => (isLetter(c) ? `((s[${at}] | 32) ^ ${c})` : `(s[${at}] ^ ${c})`);

function compare(name) {
  const all = [...name].map((_, at) => difference(at, code(name, at)));
  return `return (${all.join(" | ")}) === 0 ? ${JSON.stringify(name)} : undefined;`;
}

// One place at which all of them differ, or the first pair of places.
function distinguishing(candidates) {
  const { length } = candidates[0];
  const differ = (key) => new Set(candidates.map(key)).size === candidates.length;
  for (let a = 0; a < length; a++) {
    if (differ((name) => name[a])) return [a];
  }
  for (let a = 0; a < length; a++) {
    for (let b = 0; b < a; b++) {
      if (differ((name) => name[a] + name[b])) return [a, b];
    }
  }
  throw new Error(`no two places tell names of length ${length} apart`);
}

function ofLength(candidates) {
  if (candidates.length === 1) return compare(candidates[0]);
  const places = distinguishing(candidates);
  const packed = places.map((at, i) => `((s[${at}] | 32) << ${8 * i})`).join(" | ");
  const key = (name) => places.reduce((sum, at, i) => sum + ((code(name, at) | 32) << (8 * i)), 0);
  const branches = candidates.map((name) => `case ${key(name)}: ${compare(name)}`);
  return `switch (${packed}) { ${branches.join("\n")} } return undefined;`;
}

const lengths = groups(LOWER, (name) => name.length).map(([length, candidates]) => {
  return `case ${length}: ${ofLength(candidates)}`;
});
const find = new Function("s", `switch (s.length) { ${lengths.join("\n")} } return undefined;`);

race((bytes) => find(bytes) ?? bytes.toString("latin1").toLowerCase());
