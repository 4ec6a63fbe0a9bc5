/* The source's form, from its description. One mask has the lanes where b is below 0, one those
 * where it is not above 0. Lanes of the second are subtracted from 0: a if they are in the first
 * mask too, or 0 where b is 0. */
#include "frame.h"

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    const mask##bits negative = _mm512_movepi##bits##_mask(b); \
    const mask##bits not_above = _mm512_cmple_epi##bits##_mask(b, zero()); \
    const reg taken = _mm512_mask_mov_epi##bits(zero(), negative, a); \
    return _mm512_mask_sub_epi##bits(a, not_above, zero(), taken); \
  }

FRAME("published", "avx512bw,avx512dq", 0);
