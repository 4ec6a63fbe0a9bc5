// Naive switch: by length, then by a byte at a time until one candidate is left, which is compared
// byte by byte with an early exit. Generated, as in the source.
import { LOWER, code, groups, isLetter } from "./names.mjs";
import { race } from "./race.mjs";

const cases = (c) => (isLetter(c) ? `case ${c}: case ${c - 32}:` : `case ${c}:`);
const equals = (at, c) =>
  isLetter(c) ? `(s[${at}] === ${c} || s[${at}] === ${c - 32})` : `s[${at}] === ${c}`;

// The candidates agree in the places that were looked at.
function distinguish(candidates, seen) {
  const places = [...candidates[0]].map((_, at) => at).filter((at) => !seen.includes(at));
  if (candidates.length === 1) {
    const all = places.map((at) => equals(at, code(candidates[0], at))).join(" && ") || "true";
    return `if (${all}) return ${JSON.stringify(candidates[0])}; break;`;
  }
  const place = places.find((at) => groups(candidates, (name) => name[at]).length > 1);
  const branches = groups(candidates, (name) => code(name, place)).map(([c, rest]) => {
    return `${cases(c)} ${distinguish(rest, [...seen, place])}`;
  });
  return `switch (s[${place}]) { ${branches.join("\n")} } break;`;
}

const lengths = groups(LOWER, (name) => name.length).map(([length, candidates]) => {
  return `case ${length}: ${distinguish(candidates, [])}`;
});
const find = new Function("s", `switch (s.length) { ${lengths.join("\n")} } return undefined;`);

race((bytes) => find(bytes) ?? bytes.toString("latin1").toLowerCase());
