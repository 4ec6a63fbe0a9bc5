// Perfect hash, as the source proposes and did not try: length, first, middle and three-quarter
// byte are hashed once, a table gives the only candidate, and a loop compares.
import { LOWER, code, isLetter } from "./names.mjs";
import { race } from "./race.mjs";

const BITS = 9;
const LONGEST = Math.max(...LOWER.map((name) => name.length));

function hash(length, first, middle, late, factor) {
  const mixed = length ^ (first << 6) ^ (middle << 11) ^ (late << 16);
  return Math.imul(mixed, factor) >>> (32 - BITS);
}

function hashOf(name, factor) {
  const { length } = name;
  const folded = (at) => code(name, at) | 32;
  return hash(length, folded(0), folded(length >> 1), folded((length * 3) >> 2), factor);
}

// The first factor without a collision; a few hundred tries.
function search() {
  for (let factor = 0x9e3779b1 | 0, tries = 0; tries < 1e6; tries++) {
    if (new Set(LOWER.map((name) => hashOf(name, factor))).size === LOWER.length) return factor;
    factor = (Math.imul(factor, 0x01000193) + 2) | 1;
  }
  throw new Error("no factor without a collision");
}

const FACTOR = search();
const names = new Array(1 << BITS).fill("");
// A row a candidate: its bytes, and the bits in which they may differ from what is compared.
const bytesOf = new Uint8Array(LONGEST << BITS);
const foldOf = new Uint8Array(LONGEST << BITS);
for (const name of LOWER) {
  const at = hashOf(name, FACTOR);
  names[at] = name;
  for (let i = 0; i < name.length; i++) {
    bytesOf[at * LONGEST + i] = code(name, i);
    foldOf[at * LONGEST + i] = isLetter(code(name, i)) ? 32 : 0;
  }
}

function find(s) {
  const length = s.length;
  if (length < 2) return undefined;
  const middle = s[length >> 1] | 32;
  const at = hash(length, s[0] | 32, middle, s[(length * 3) >> 2] | 32, FACTOR);
  const name = names[at];
  if (name.length !== length) return undefined;
  const row = at * LONGEST;
  let difference = 0;
  for (let i = 0; i < length; i++) difference |= (s[i] | foldOf[row + i]) ^ bytesOf[row + i];
  return difference === 0 ? name : undefined;
}

race((bytes) => find(bytes) ?? bytes.toString("latin1").toLowerCase());
