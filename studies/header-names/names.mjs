import { readFileSync } from "node:fs";

// The 95 well-known names of HTTP headers that undici, the HTTP client of Node.js, recognises.
export const NAMES = readFileSync(new URL("names.txt", import.meta.url), "utf8").trim().split(/\s+/);

/** The same in lower case. */
export const LOWER = NAMES.map((name) => name.toLowerCase());

/** The code of the character at a place. */
export const code = (name, at) => name.charCodeAt(at);

/** Whether the code is that of a lower-case letter. */
export const isLetter = (c) => c >= 97 && c <= 122;

/** Groups names by a key, in the order of the keys' first names. */
export function groups(names, key) {
  const found = new Map();
  for (const name of names) {
    const group = key(name);
    if (!found.has(group)) found.set(group, []);
    found.get(group).push(name);
  }
  return [...found];
}
