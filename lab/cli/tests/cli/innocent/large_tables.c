/* Has a table of a mebibyte that is constant, and one of eight that begins as zeros. */
#include "tiebreak.h"

static const uint8_t constant[1 << 20] = {[7] = 1, [(1 << 20) - 1] = 2};
static volatile uint8_t zeros[8 << 20];

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t place = i * 8191 % sizeof constant / 64 * 64;
    sum += bytes[i] + (uint64_t)constant[place] + zeros[place * 8];
  }
  return sum;
}

TIEBREAK_NUMBER(sum);
