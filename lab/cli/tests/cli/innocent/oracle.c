#include "tiebreak.h"

static uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += bytes[i];
  return sum;
}

TIEBREAK_NUMBER_ORACLE(tiebreak_random_bytes, sum);
