// What the contestants in JavaScript share: the texts of an input, and which of them are UTF-8.
// ../utf8/oracle.c says how an input is made.

const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);

function textsOf(input) {
  const count = input.readUInt32LE(0);
  const bytes = 4 * (1 + count);
  let begin = 0;
  return Array.from({ length: count }, (_, i) => {
    const end = input.readUInt32LE(4 * (1 + i));
    const text = input.subarray(bytes + begin, bytes + end);
    begin = end;
    return text;
  });
}

/** Races this function of bytes. */
export function race(isValid) {
  serve((input) => {
    const texts = textsOf(input);
    const results = new Uint32Array(texts.length);
    return {
      run() {
        let valid = 0;
        for (let i = 0; i < texts.length; i++) {
          results[i] = isValid(texts[i]) ? 1 : 0;
          valid += results[i];
        }
        return valid;
      },
      dump: () => Array.from(results, (valid) => `${valid}\n`).join(""),
    };
  });
}
