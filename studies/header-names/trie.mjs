// Digital search trie of plain objects: a node has a child for each byte, under both cases, and the
// name that ends there.
import { LOWER, code, isLetter } from "./names.mjs";
import { race } from "./race.mjs";

const root = {};
for (const name of LOWER) {
  let node = root;
  for (let at = 0; at < name.length; at++) {
    const c = code(name, at);
    const next = node[c] ?? {};
    node[c] = next;
    if (isLetter(c)) node[c - 32] = next;
    node = next;
  }
  node.value = name;
}

function find(bytes) {
  let node = root;
  for (let at = 0; at < bytes.length; at++) {
    node = node[bytes[at]];
    if (node === undefined) return undefined;
  }
  return node.value;
}

race((bytes) => find(bytes) ?? bytes.toString("latin1").toLowerCase());
