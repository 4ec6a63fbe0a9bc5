// Contract batch, with AVX-512: a classifier for any set, in three steps for 64 bytes.
//
//   row  = bitmap[c / 8]            vpermb looks up 64 bytes in a register of 64
//   bit  = 1 << (c % 8)             vpshufb looks up the lower three bits
//   mask = (row & bit) != 0         vptestmb, 64 bits of output
//
// Any of the 2^256 sets takes the same time: no solver, no case for bytes above 127. The tail is
// done by a masked load, which reads nothing beyond the end.
#include "frame.h"
#include "set.h"
#include <immintrin.h>

alignas(32) constexpr static auto bitmap = bits_of_set<uint8_t>();

static uint64_t classify(const uint8_t *input, uint64_t bytes, uint8_t *output) {
  const __m512i rows = _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *)bitmap.data()));
  const __m512i bits = _mm512_set1_epi64(int64_t(0x8040201008040201));
  const __m512i low = _mm512_set1_epi8(7), row_number = _mm512_set1_epi8(31);
  auto block = [&](__m512i c) {
    __m512i row = _mm512_and_si512(_mm512_srli_epi16(c, 3), row_number);
    __m512i bit = _mm512_shuffle_epi8(bits, _mm512_and_si512(c, low));
    return _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, rows), bit);
  };
  uint64_t count = 0, i = 0;
  for (; i + 64 <= bytes; i += 64) {
    uint64_t mask = block(_mm512_loadu_si512(input + i));
    memcpy(output + i / 8, &mask, sizeof mask);
    count += uint64_t(_mm_popcnt_u64(mask));
  }
  if (i < bytes) {
    __mmask64 rest = (uint64_t(1) << (bytes - i)) - 1;
    uint64_t mask = block(_mm512_maskz_loadu_epi8(rest, input + i)) & rest;
    memcpy(output + i / 8, &mask, (bytes - i + 7) / 8);
    count += uint64_t(_mm_popcnt_u64(mask));
  }
  return count;
}

BATCH_CONTESTANT("bitmap of 512 bits", "avx512f,avx512bw,avx512vbmi,popcnt", classify, frame_bit);
