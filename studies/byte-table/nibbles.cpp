// Contract batch, with AVX2: one table for each half of a byte.
//
// Rows: the upper half of a byte names a row of 16, and the set has six rows that are not empty:
// 0, 2, 3, 4, 5 and 7. Each gets a bit. `upper` gives the row's bit, `lower` the bits of all rows
// that have this lower half; the byte is in the set if they share a bit. Langdale and Lemire 2019,
// "Parsing gigabytes of JSON per second", section 3.1.2, has the method. 32 bytes make one word of
// 32 bits of output.
#include "frame.h"
#include "set.h"
#include <immintrin.h>

struct Tables {
  alignas(32) uint8_t upper[32], lower[32];
};

// A bit for each row with a member; 8 is all that a byte has.
constexpr static Tables tables = [] {
  Tables result{};
  unsigned rows = 0;
  for (unsigned row = 0; row < 16; row++) {
    bool used = false;
    for (uint8_t c : SET) {
      if (c / 16 != row) continue;
      result.lower[c % 16] = result.lower[16 + c % 16] = result.lower[c % 16] | uint8_t(1 << rows);
      used = true;
    }
    if (used) result.upper[row] = result.upper[16 + row] = uint8_t(1 << rows++);
  }
  return result;
}();

static uint32_t block(__m256i bytes) {
  const __m256i upper = _mm256_load_si256((const __m256i *)tables.upper);
  const __m256i lower = _mm256_load_si256((const __m256i *)tables.lower);
  const __m256i half = _mm256_set1_epi8(15);
  __m256i row = _mm256_shuffle_epi8(upper, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
  __m256i column = _mm256_shuffle_epi8(lower, _mm256_and_si256(bytes, half));
  __m256i shared = _mm256_and_si256(row, column);
  return ~uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(shared, _mm256_setzero_si256())));
}

static uint64_t classify(const uint8_t *input, uint64_t bytes, uint8_t *output) {
  uint64_t count = 0, i = 0;
  for (; i + 32 <= bytes; i += 32) {
    uint32_t mask = block(_mm256_loadu_si256((const __m256i *)(input + i)));
    memcpy(output + i / 8, &mask, sizeof mask);
    count += uint64_t(_mm_popcnt_u32(mask));
  }
  if (i < bytes) {
    uint64_t rest = bytes - i;
    alignas(32) uint8_t last[32] = {0};
    memcpy(last, input + i, rest);
    uint32_t mask = block(_mm256_load_si256((const __m256i *)last)) & ((1u << rest) - 1);
    memcpy(output + i / 8, &mask, (rest + 7) / 8);
    count += uint64_t(_mm_popcnt_u32(mask));
  }
  return count;
}

BATCH_CONTESTANT("nibbles, AVX2", "avx2,popcnt", classify, frame_bit);
