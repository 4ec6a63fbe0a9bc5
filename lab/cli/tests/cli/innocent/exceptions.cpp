// Ends its loop by an exception, which it catches itself.
#include "tiebreak.h"
#include <stdexcept>
#include <vector>

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  try {
    for (uint64_t i = 0;; i++) {
      if (i == count) throw std::out_of_range("the end");
      sum += bytes[i];
    }
  } catch (const std::out_of_range &) {
    return sum;
  }
}

static uint64_t run(void *state) {
  const tiebreak_workload *workload = static_cast<const tiebreak_workload *>(state);
  const void *input = tiebreak_launder(workload->input);
  return sum(static_cast<const uint8_t *>(input), workload->input_bytes);
}

static void dump(void *state, const tiebreak_sink *sink) { tiebreak_write_number(sink, run(state)); }

TIEBREAK_CONTESTANT_WITH("exceptions", "", TIEBREAK_ALLOCATES, 0u, 0u, 0u, tiebreak_copy_workload,
                         0, run, dump, free);
