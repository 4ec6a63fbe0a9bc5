/* The source's cheaper form: a is negated where b is below 0, and stays where b is 0. */
#include "frame.h"

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    return _mm512_mask_sub_epi##bits(a, _mm512_movepi##bits##_mask(b), zero(), a); \
  }

#ifdef __AVX512VNNI__
FRAME("cheated with VNNI", "avx512bw,avx512dq,avx512_vnni", 1);
#else
FRAME("cheated", "avx512bw,avx512dq", 1);
#endif
