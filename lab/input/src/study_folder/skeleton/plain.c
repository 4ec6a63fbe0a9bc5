/* One byte after the other. */
#include "sum.h"

TIEBREAK_KERNEL uint64_t sum_of(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    sum += bytes[i];
  }
  return sum;
}

static uint64_t run(void *opaque) {
  state *sums = (state *)opaque;
  sums->sum = sum_of((const uint8_t *)tiebreak_launder(sums->input), sums->bytes);
  return sums->sum;
}

TIEBREAK_CONTESTANT("plain", prepare, run, dump, release);
