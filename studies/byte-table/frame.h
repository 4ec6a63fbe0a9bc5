// What the C and C++ contestants of this study share: the loop over the bytes, and the answer.
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <string.h>

// Writes 0 or 1 and the end of a line for each byte, many lines at a time.
static void frame_write(const tiebreak_sink *sink, const tiebreak_workload *workload,
                        int (*is_forbidden)(const uint8_t *output, uint64_t index)) {
  char lines[4096];
  uint64_t used = 0;
  for (uint64_t i = 0; i < workload->input_bytes; i++) {
    lines[used++] = is_forbidden(workload->output, i) ? '1' : '0';
    lines[used++] = '\n';
    if (used == sizeof lines || i + 1 == workload->input_bytes) {
      sink->write(sink->context, lines, used);
      used = 0;
    }
  }
}

static inline int frame_byte(const uint8_t *output, uint64_t index) { return output[index]; }

static inline int frame_bit(const uint8_t *output, uint64_t index) {
  return output[index / 8] >> (index % 8) & 1;
}

// A contestant that calls `is_forbidden` for each byte, and puts a byte of output for each.
#define BYTE_CONTESTANT(name, is_forbidden) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    uint64_t count = 0; \
    for (uint64_t i = 0; i < workload->input_bytes; i++) { \
      bool forbidden = is_forbidden((char)workload->input[i]); \
      workload->output[i] = forbidden; \
      count += forbidden; \
    } \
    return count; \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    frame_write(sink, (const tiebreak_workload *)state, frame_byte); \
  } \
  TIEBREAK_CONTESTANT(name, tiebreak_copy_workload, run, dump, free)

// A contestant that does all bytes at once: `classify(input, bytes, output)` gives how many are
// forbidden. `form` is frame_byte for a byte of output each, frame_bit for a bit each.
#define BATCH_CONTESTANT(name, needs, classify, form) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    return classify(workload->input, workload->input_bytes, workload->output); \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    frame_write(sink, (const tiebreak_workload *)state, form); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, 0u, 0u, 0u, tiebreak_copy_workload, 0, run, dump, free)

#endif
