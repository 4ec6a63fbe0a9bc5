// 32 bytes at a time by two shuffles, then 16, then the table.
#include "nibbles.h"

static const uint8_t *scan(const uint8_t *from, const uint8_t *end) {
  const __m128i upper = _mm_load_si128((const __m128i *)tables.upper);
  const __m128i lower = _mm_load_si128((const __m128i *)tables.lower);
  const __m256i uppers = _mm256_broadcastsi128_si256(upper);
  const __m256i lowers = _mm256_broadcastsi128_si256(lower);
  const __m256i half = _mm256_set1_epi8(15);
  for (; end - from >= 32; from += 32) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)from);
    __m256i row = _mm256_shuffle_epi8(uppers, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
    __m256i column = _mm256_shuffle_epi8(lowers, _mm256_and_si256(bytes, half));
    __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(row, column), _mm256_setzero_si256());
    unsigned out = unsigned(_mm256_movemask_epi8(none));
    if (out) return from + __builtin_ctz(out);
  }
  if (end - from >= 16) {
    const __m128i low = _mm256_castsi256_si128(half);
    __m128i bytes = _mm_loadu_si128((const __m128i *)from);
    __m128i row = _mm_shuffle_epi8(upper, _mm_and_si128(_mm_srli_epi16(bytes, 4), low));
    __m128i column = _mm_shuffle_epi8(lower, _mm_and_si128(bytes, low));
    __m128i none = _mm_cmpeq_epi8(_mm_and_si128(row, column), _mm_setzero_si128());
    unsigned out = unsigned(_mm_movemask_epi8(none));
    if (out) return from + __builtin_ctz(out);
    from += 16;
  }
  return scan_table(from, end);
}

SCAN_CONTESTANT("two shuffles, AVX2", "avx2", scan);
