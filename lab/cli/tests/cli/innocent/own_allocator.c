/* Takes memory from an arena of its own, and gives all of it back at the end of a run. */
#include "tiebreak.h"

static _Alignas(64) uint8_t arena[1 << 18];
static uint64_t used;

static void *take(uint64_t bytes) {
  uint64_t rounded = (bytes + 63) / 64 * 64;
  if (used + rounded > sizeof arena) return 0;
  used += rounded;
  return arena + used - rounded;
}

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t start = 0; start < count; start += 4096) {
    uint64_t many = count - start < 4096 ? count - start : 4096;
    uint8_t *copy = take(many);
    if (!copy) return 0;
    memcpy(copy, bytes + start, many);
    for (uint64_t i = 0; i < many; i++) sum += copy[i];
  }
  used = 0;
  return sum;
}

TIEBREAK_NUMBER(sum);
