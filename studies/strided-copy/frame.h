/* What every C contestant of this study shares: the state, the checksum and the check.
 *
 * Contestants copy different bytes, and claims compare them, so the answer cannot be the bytes. It
 * is, for each block of 4096 bytes of the array, how many of them are not as they should be: 0.
 * Each contestant is looked at twice: the bytes that the run left, where it should have copied;
 * and, after another call on an output that differs from the input everywhere, all bytes, so that
 * copying more than every STRIDE-th is wrong too. */
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"

#define FRAME_BLOCK 4096u

/* How many bytes of a block are wrong: copied ones that differ, and, if `others` is set, those in
 * between that are no longer the input's complement. */
static uint64_t frame_wrong(const tiebreak_workload *workload, uint64_t from, uint64_t stride,
                            int others) {
  uint64_t wrong = 0;
  for (uint64_t i = from; i < workload->input_bytes && i < from + FRAME_BLOCK; i++) {
    uint8_t input = workload->input[i];
    if (i % stride == 0)
      wrong += workload->output[i] != input;
    else if (others)
      wrong += workload->output[i] != (uint8_t)~input;
  }
  return wrong;
}

/* Exports `copy(const uint8_t *from, uint8_t *to, size_t size, size_t stride)` as a contestant. */
#define FRAME(name, copy, stride) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    copy(workload->input, workload->output, workload->input_bytes, stride); \
    return workload->input_bytes + (workload->input_bytes ? workload->output[0] : 0); \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const uint64_t bytes = workload->input_bytes; \
    for (uint64_t i = 0; i < bytes; i += FRAME_BLOCK) \
      tiebreak_write_number(sink, frame_wrong(workload, i, stride, 0)); \
    for (uint64_t i = 0; i < bytes; i++) workload->output[i] = (uint8_t)~workload->input[i]; \
    copy(workload->input, workload->output, bytes, stride); \
    for (uint64_t i = 0; i < bytes; i += FRAME_BLOCK) \
      tiebreak_write_number(sink, frame_wrong(workload, i, stride, 1)); \
  } \
  TIEBREAK_CONTESTANT(name, tiebreak_copy_workload, run, dump, free)

#endif
