// What the C++ contestants of this study share: the loop over the runs, and the answer.
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <string.h>

// The bytes that may stand in the value of a header: tab, blank to tilde, and all from 128 on.
constexpr static bool may_stand(uint8_t byte) {
  return byte == '\t' || (byte >= ' ' && byte != 127);
}

struct Table {
  bool is_in[256];
};

constexpr static Table table = [] {
  Table result{};
  for (int byte = 0; byte < 256; byte++) result.is_in[byte] = may_stand(uint8_t(byte));
  return result;
}();

// The end of a run, a byte at a time.
static inline const uint8_t *scan_table(const uint8_t *from, const uint8_t *end) {
  while (from < end && table.is_in[*from]) from++;
  return from;
}

// A contestant that finds where a run ends by `scan(from, end)`, as a parser does: where the next
// begins is known only then.
#define SCAN_CONTESTANT(name, needs, scan) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const uint8_t *from = workload->input, *end = from + workload->input_bytes; \
    uint32_t *length = (uint32_t *)workload->output; \
    uint64_t sum = 0; \
    while (from < end) { \
      const uint8_t *found = scan(from, end); \
      *length++ = uint32_t(found - from); \
      sum += uint64_t(found - workload->input); \
      from = found + 1; \
    } \
    return sum; \
  } \
  SCAN_TABLE(name, needs)

#define SCAN_TABLE(name, needs) \
  static void dump(void *state, const tiebreak_sink *sink) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const uint32_t *length = (const uint32_t *)workload->output; \
    for (uint64_t i = 0; i < workload->items; i++) tiebreak_write_number(sink, length[i]); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, 0u, 0u, 0u, tiebreak_copy_workload, 0, run, dump, free)

#endif
