/* The instruction that AVX-512 lacks, twice. */
#include "frame.h"

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    return (reg){_mm256_sign_epi##bits(a.low, b.low), _mm256_sign_epi##bits(a.high, b.high)}; \
  }

FRAME("avx2", "avx2", 0);
