const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);

serve((input, workload) => {
  const words = input.toString().split(/\s+/);
  let counts = new Map();
  let runs = 0;
  return {
    run() {
      console.log("printed");
      runs += 1;
      counts = new Map();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      return workload.name === "drift" ? runs : counts.size;
    },
    reset: () => counts.clear(),
    dump: () => [...counts].sort().map(([word, count]) => `${word} ${count}\n`).join(""),
  };
});
