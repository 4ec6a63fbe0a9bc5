// Conventional: the bytes become a string, which a table of both spellings turns into a known one.
import { NAMES } from "./names.mjs";
import { race } from "./race.mjs";

const table = Object.create(null);
for (const name of NAMES) {
  table[name] = name.toLowerCase();
  table[name.toLowerCase()] = name.toLowerCase();
}

race((bytes) => {
  const text = bytes.toString("latin1");
  return table[text] ?? text.toLowerCase();
});
