/* Is compiled for several CPUs; the library that is loaded chooses. */
#include "tiebreak.h"

#if defined(__x86_64__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

CLONES static uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += bytes[i];
  return sum;
}

TIEBREAK_NUMBER(sum);
