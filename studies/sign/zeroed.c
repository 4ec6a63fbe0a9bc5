/* Ours: the cheaper form, and then a move that zeroes the lanes where b is 0. */
#include "frame.h"

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    const mask##bits negative = _mm512_movepi##bits##_mask(b); \
    const reg negated = _mm512_mask_sub_epi##bits(a, negative, zero(), a); \
    return _mm512_maskz_mov_epi##bits(_mm512_test_epi##bits##_mask(b, b), negated); \
  }

FRAME("zeroed", "avx512bw,avx512dq", 0);
