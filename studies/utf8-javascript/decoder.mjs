// A decoder that throws: the text is made, and thrown away.
import { race } from "./race.mjs";

const decoder = new TextDecoder("utf-8", { fatal: true });

race((bytes) => {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
});
