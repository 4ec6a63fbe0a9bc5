#include "tiebreak.h"

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t a = 0, b = 0, c = 0, d = 0, i = 0;
  for (; i + 4 <= count; i += 4) {
    a += bytes[i], b += bytes[i + 1], c += bytes[i + 2], d += bytes[i + 3];
  }
  for (; i < count; i++) a += bytes[i];
  return a + b + c + d;
}

TIEBREAK_NUMBER(sum);
