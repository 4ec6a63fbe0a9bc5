/* What every C contestant of this study shares: the input as floats, and the answer, which is the
 * bits of the float that the sum gives. */
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <stddef.h>
#include <string.h>

static uint64_t frame_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Exports `sum(float *data, size_t N)` as a contestant. The source's function takes a pointer to
 * floats that it could write, and does not. */
#define FRAME(name, needs, slack_bytes) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    float *data = (float *)(uintptr_t)tiebreak_launder(workload->input); \
    return frame_bits(sum(data, workload->input_bytes / sizeof(float))); \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    tiebreak_write_number(sink, run(state)); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, slack_bytes, 0u, 0u, tiebreak_copy_workload, 0, run, \
                           dump, free)

#endif
