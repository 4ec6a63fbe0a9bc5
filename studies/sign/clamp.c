/* Ours: a times b, which is clamped to -1, 0 or 1 first. Bytes have no product: those in even
 * places are the lower halves of products of 16 bits, and those in odd places are multiplied in the
 * upper halves, where they stand. */
#include "frame.h"

#define CLAMPED(bits, b) \
  _mm512_min_epi##bits(_mm512_max_epi##bits(b, _mm512_set1_epi##bits(-1)), _mm512_set1_epi##bits(1))

#define SIGN(bits) \
  static inline reg sign##bits(reg a, reg b) { return product##bits(a, CLAMPED(bits, b)); }

static inline reg product32(reg a, reg b) { return _mm512_mullo_epi32(a, b); }
static inline reg product16(reg a, reg b) { return _mm512_mullo_epi16(a, b); }
static inline reg product8(reg a, reg b) {
  const mask8 odd = 0xaaaaaaaaaaaaaaaau;
  const reg upper = product16(_mm512_maskz_mov_epi8(odd, a), _mm512_srli_epi16(b, 8));
  return _mm512_mask_mov_epi8(product16(a, b), odd, upper);
}

FRAME("clamp", "avx512bw,avx512dq", 0);
