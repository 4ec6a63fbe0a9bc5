// Ternary search tree: each node has a byte and three children, for smaller bytes, for larger ones
// and for the next place.
import { LOWER, code, isLetter } from "./names.mjs";
import { race } from "./race.mjs";

class Node {
  constructor(code) {
    this.code = code;
    this.value = null;
    this.left = null;
    this.middle = null;
    this.right = null;
  }
}

function add(node, name, at) {
  const c = code(name, at);
  node ??= new Node(c);
  if (c < node.code) {
    node.left = add(node.left, name, at);
  } else if (c > node.code) {
    node.right = add(node.right, name, at);
  } else if (at + 1 === name.length) {
    node.value = name;
  } else {
    node.middle = add(node.middle, name, at + 1);
  }
  return node;
}

// Middle first, so that the tree is balanced where it branches.
function addBalanced(root, sorted) {
  if (sorted.length === 0) return root;
  const middle = sorted.length >> 1;
  root = add(root, sorted[middle], 0);
  root = addBalanced(root, sorted.slice(0, middle));
  return addBalanced(root, sorted.slice(middle + 1));
}

const root = addBalanced(null, [...LOWER].sort());

function find(bytes) {
  const length = bytes.length;
  let at = 0;
  let node = root;
  while (node !== null && at < length) {
    let c = bytes[at];
    if (c >= 65 && c <= 90) c |= 32;
    if (c === node.code) {
      if (++at === length) return node.value;
      node = node.middle;
    } else {
      node = c < node.code ? node.left : node.right;
    }
  }
  return null;
}

if (!LOWER.every((name) => [...name].every((c) => c === "-" || isLetter(code(c, 0))))) {
  throw new Error("a name has a byte that is no letter and no hyphen");
}

race((bytes) => find(bytes) ?? bytes.toString("latin1").toLowerCase());
