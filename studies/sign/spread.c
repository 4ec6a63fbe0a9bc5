/* Ours: the sign of b spread over its lane, 0 or -1. a xor that, less that, is a or -a. The
 * subtraction zeroes the lanes where b is 0, unless RELAXED. Bytes have no shift: their sign is
 * spread by an affine map of GFNI, with the upper bit in each row of its matrix, or by a mask. */
#include "frame.h"

#ifdef __GFNI__
#define NEEDS "avx512bw,avx512dq,gfni"
static inline reg spread8(reg b) {
  return _mm512_gf2p8affine_epi64_epi8(b, _mm512_set1_epi64((long long)0x8080808080808080u), 0);
}
#else
#define NEEDS "avx512bw,avx512dq"
static inline reg spread8(reg b) { return _mm512_movm_epi8(_mm512_movepi8_mask(b)); }
#endif
static inline reg spread16(reg b) { return _mm512_srai_epi16(b, 15); }
static inline reg spread32(reg b) { return _mm512_srai_epi32(b, 31); }

#ifdef RELAXED
#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    const reg spread = spread##bits(b); \
    return _mm512_sub_epi##bits(_mm512_xor_si512(a, spread), spread); \
  }
FRAME("spread, relaxed", NEEDS, 1);
#else
#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { \
    const reg spread = spread##bits(b), turned = _mm512_xor_si512(a, spread); \
    return _mm512_maskz_sub_epi##bits(_mm512_test_epi##bits##_mask(b, b), turned, spread); \
  }
FRAME("spread", NEEDS, 0);
#endif
