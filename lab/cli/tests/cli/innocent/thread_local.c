/* Adds up in a variable of its thread. */
#include "tiebreak.h"

static _Thread_local uint64_t total;
static _Thread_local uint64_t calls = 40;

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  total = 0;
  calls++;
  for (uint64_t i = 0; i < count; i++) total += bytes[i];
  return total;
}

TIEBREAK_NUMBER(sum);
