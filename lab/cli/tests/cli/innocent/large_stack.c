/* Has two mebibytes on the stack. */
#include "tiebreak.h"

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  volatile uint8_t copy[2 << 20];
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) copy[i * 97 % sizeof copy] = 0;
  for (uint64_t i = 0; i < count; i++) {
    copy[i * 97 % sizeof copy] = bytes[i];
    sum += copy[i * 97 % sizeof copy];
  }
  return sum;
}

TIEBREAK_NUMBER(sum);
