/* No sign at all: b is loaded, and a is the answer. */
#include "frame.h"

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    LAUNDER(b); \
    return a; \
  }

#ifdef __AVX512BW__
FRAME("limit", "avx512bw,avx512dq", 0);
#else
FRAME("limit of AVX2", "avx2", 0);
#endif
