// 16 bytes at a time by two shuffles, which is what has been proposed for llparse since 2023. What is
// left is done by the table.
#include "nibbles.h"

static const uint8_t *scan(const uint8_t *from, const uint8_t *end) {
  const __m128i upper = _mm_load_si128((const __m128i *)tables.upper);
  const __m128i lower = _mm_load_si128((const __m128i *)tables.lower);
  const __m128i half = _mm_set1_epi8(15);
  for (; end - from >= 16; from += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)from);
    __m128i row = _mm_shuffle_epi8(upper, _mm_and_si128(_mm_srli_epi16(bytes, 4), half));
    __m128i column = _mm_shuffle_epi8(lower, _mm_and_si128(bytes, half));
    __m128i none = _mm_cmpeq_epi8(_mm_and_si128(row, column), _mm_setzero_si128());
    unsigned out = unsigned(_mm_movemask_epi8(none));
    if (out) return from + __builtin_ctz(out);
  }
  return scan_table(from, end);
}

SCAN_CONTESTANT("two shuffles, SSSE3", "ssse3", scan);
