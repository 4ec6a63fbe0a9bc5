/* Ours: unchecked.h, the bins of 32 balls at a time.
 *
 * SplitMix64 counts, so its next words do not wait for each other. The bins go through memory, and
 * are counted while the next 32 are drawn: read at once, they would wait for the wide store, and
 * take as long as without vectors. A scatter to 16 tables, one for each place, took longer too. */
#include "unchecked.h"
#include <immintrin.h>

/* The bins of the 16 balls of the eight words whose states these are. */
static inline __m512i drawn(__m512i state, __m512i bins) {
  __m512i word = _mm512_xor_si512(state, _mm512_srli_epi64(state, 30));
  word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)0xbf58476d1ce4e5b9u));
  word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 27));
  word = _mm512_mullo_epi64(word, _mm512_set1_epi64((long long)0x94d049bb133111ebu));
  word = _mm512_xor_si512(word, _mm512_srli_epi64(word, 31));
  __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(word, bins), 32);
  __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(word, 32), bins);
  return _mm512_mask_mov_epi32(low, 0xaaaa, high);
}

static inline void count(uint32_t *counts, const uint64_t *pairs) {
  for (int i = 0; i < 16; i++) {
    counts[(uint32_t)pairs[i]]++;
    counts[pairs[i] >> 32]++;
  }
}

static void throw_words(room *room, uint64_t bins, uint64_t *stream, uint64_t words) {
  const uint64_t step = 0x9e3779b97f4a7c15u;
  const __m512i width = _mm512_set1_epi64((long long)bins);
  const __m512i eight = _mm512_set1_epi64((long long)(8 * step));
  const __m512i first = _mm512_set_epi64(8, 7, 6, 5, 4, 3, 2, 1);
  __m512i state = _mm512_add_epi64(_mm512_set1_epi64((long long)*stream),
                                   _mm512_mullo_epi64(first, _mm512_set1_epi64((long long)step)));
  uint64_t turns = words / 16, turn = 0;
  for (; turn < turns; turn++) {
    uint64_t *pairs = room->drawn[turn % 2];
    _mm512_store_si512(pairs, drawn(state, width));
    state = _mm512_add_epi64(state, eight);
    _mm512_store_si512(pairs + 8, drawn(state, width));
    state = _mm512_add_epi64(state, eight);
    if (turn > 0) count(room->counts, room->drawn[1 - turn % 2]);
  }
  if (turn > 0) count(room->counts, room->drawn[1 - turn % 2]);
  *stream += 16 * turns * step;
  throw_one_by_one(room->counts, bins, stream, words % 16);
}

FRAME("avx512", "avx512f,avx512dq");
