/* Takes as much of the stack as the input is long. */
#include <alloca.h>
#include "tiebreak.h"

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  volatile uint8_t *copy = alloca(count);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) copy[i] = bytes[i];
  for (uint64_t i = 0; i < count; i++) sum += copy[i];
  return sum;
}

TIEBREAK_NUMBER(sum);
