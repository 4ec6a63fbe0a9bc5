// What the contestants in C++ share: each number of the input becomes a line of the output.
// `Put::put` writes a number and returns the place behind it. It may write up to 64 bytes.
#ifndef LINES_H
#define LINES_H

#include "tiebreak.h"

struct Lines {
  tiebreak_workload workload;
  uint64_t used;
};

static void *prepare(const tiebreak_workload *workload) {
  Lines *state = (Lines *)malloc(sizeof(Lines));
  if (state) *state = {*workload, 0};
  return state;
}

template <class Put> static uint64_t run(void *context) {
  Lines *state = (Lines *)context;
  const uint64_t *numbers = (const uint64_t *)state->workload.input;
  char *out = (char *)state->workload.output;
  for (uint64_t i = 0; i < state->workload.items; i++) {
    out = Put::put(out, numbers[i]);
    *out++ = '\n';
  }
  return state->used = (uint64_t)(out - (char *)state->workload.output);
}

static void dump(void *context, const tiebreak_sink *sink) {
  const Lines *state = (const Lines *)context;
  sink->write(sink->context, state->workload.output, state->used);
}

// The features of a CPU that a contestant needs.
#ifndef LINES_NEEDS
#define LINES_NEEDS ""
#endif

#define LINES_CONTESTANT(name, Put)                                                           \
  TIEBREAK_CONTESTANT_WITH(name, LINES_NEEDS, 0u, 0u, 0u, 0u, prepare, nullptr, run<Put>, dump, \
                           free)

#endif
