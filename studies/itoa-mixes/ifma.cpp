// The method of Champagne Gareau and Lemire (2026), written anew after its description: a product
// leaves a fraction that begins with a digit, for eight digits at once, and a product by 10 brings
// the digits out. One permute gathers those of sixteen and drops what leads, as its places are
// loaded from so many bytes further on. Meanwhile the length comes from the bits of the number.
#define LINES_NEEDS "abm,avx512f,avx512ifma,avx512vbmi"
#include "lines.h"
#include <immintrin.h>

static const uint64_t ten_8 = 100000000, ten_16 = ten_8 * ten_8;

// The eight digits of a number below 10^8 as text, one in the lowest byte of each word.
static inline __m512i eight(uint64_t number) {
  // 2^52 / 10^8 to 2^52 / 10, rounded down. One more of each makes up for that.
  const __m512i parts =
      _mm512_setr_epi64(45035996, 450359962, 4503599627, 45035996273, 450359962737, 4503599627370,
                        45035996273704, 450359962737049);
  __m512i words = _mm512_set1_epi64((int64_t)number);
  __m512i fractions = _mm512_madd52lo_epu64(parts, words, parts);
  return _mm512_madd52hi_epu64(_mm512_set1_epi64('0'), fractions, _mm512_set1_epi64(10));
}

// The lowest byte of each word of two registers, and then what may be anything.
static const uint8_t places[32] = {0,  8,  16, 24, 32, 40,  48,  56,
                                   64, 72, 80, 88, 96, 104, 112, 120};

// The digits of a number below 10^16 but the first ones.
static inline __m128i sixteen(uint64_t number, unsigned dropped) {
  __m128i from = _mm_loadu_si128((const __m128i *)(places + dropped));
  __m512i high = eight(number / ten_8), low = eight(number % ten_8);
  return _mm512_castsi512_si128(_mm512_permutex2var_epi8(high, _mm512_castsi128_si512(from), low));
}

// The least numbers with so many digits and one more; none has no digit.
static const uint64_t longer[20] = {0,
                                    10,
                                    100,
                                    1000,
                                    10000,
                                    100000,
                                    1000000,
                                    10000000,
                                    ten_8,
                                    10 * ten_8,
                                    100 * ten_8,
                                    1000 * ten_8,
                                    10000 * ten_8,
                                    100000 * ten_8,
                                    1000000 * ten_8,
                                    10000000 * ten_8,
                                    ten_16,
                                    10 * ten_16,
                                    100 * ten_16,
                                    1000 * ten_16};

static inline unsigned length(uint64_t number) {
  // 1233 / 2^12 is the logarithm of 2.
  unsigned digits = (64 - (unsigned)__builtin_clzll(number | 1)) * 1233 >> 12;
  return digits + (number >= longer[digits]);
}

struct Put {
  static char *put(char *out, uint64_t number) {
    unsigned digits = length(number);
    if (digits <= 16) {
      _mm_storeu_si128((__m128i *)out, sixteen(number, 16 - digits));
      return out + digits;
    }
    // At most four digits, and sixteen.
    _mm_storeu_si128((__m128i *)out, sixteen(number / ten_16, 32 - digits));
    _mm_storeu_si128((__m128i *)(out + digits - 16), sixteen(number % ten_16, 0));
    return out + digits;
  }
};

LINES_CONTESTANT("ifma", Put);
