/* Uses the widest registers, where the CPU has them. */
#include <immintrin.h>
#include "tiebreak.h"

__attribute__((target("avx512f,avx512bw"))) TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes,
                                                                         uint64_t count) {
  __m512i sums = _mm512_setzero_si512();
  for (uint64_t i = 0; i < count; i += 64) {
    __mmask64 mask = count - i < 64 ? (1ull << (count - i)) - 1 : ~0ull;
    __m512i part = _mm512_maskz_loadu_epi8(mask, bytes + i);
    sums = _mm512_add_epi64(sums, _mm512_sad_epu8(part, _mm512_setzero_si512()));
  }
  return (uint64_t)_mm512_reduce_add_epi64(sums);
}

static uint64_t run(void *state) {
  const tiebreak_workload *workload = (const tiebreak_workload *)state;
  return sum((const uint8_t *)tiebreak_launder(workload->input), workload->input_bytes);
}

static void dump(void *state, const tiebreak_sink *sink) {
  tiebreak_write_number(sink, run(state));
}

TIEBREAK_CONTESTANT_WITH("avx512", "avx512f,avx512bw", 0u, 0u, 0u, 0u, tiebreak_copy_workload, 0,
                         run, dump, free);
