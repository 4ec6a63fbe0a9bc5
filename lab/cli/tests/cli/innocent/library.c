/* Calls a library for each item. */
#include <math.h>
#include "tiebreak.h"

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += cbrt((double)bytes[i] * bytes[i] * bytes[i]);
  return (uint64_t)llrint(sum);
}

TIEBREAK_NUMBER(sum);
