const { serve } = await import(`${process.env.TIEBREAK_SDK}/tiebreak.mjs`);

serve((input, workload) => ({
  parts: [() => workload.size, () => workload.items],
  dump: () => String(workload.seed),
}));
