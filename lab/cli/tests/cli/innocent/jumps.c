/* Leaves its loop by longjmp, and goes through it by computed jumps. */
#include <setjmp.h>
#include "tiebreak.h"

static jmp_buf end;
static uint64_t total;

static void step(const uint8_t *bytes, uint64_t count) {
  static const void *const labels[] = {&&add, &&leave};
  uint64_t i = 0;
again:
  goto *labels[i == count];
add:
  total += bytes[i++];
  goto again;
leave:
  longjmp(end, 1);
}

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  total = 0;
  if (!setjmp(end)) step(bytes, count);
  return total;
}

TIEBREAK_NUMBER(sum);
