/* Ours: AVX-512 with eight accumulators and a masked tail. Tried and lost: to ask for memory 8 KiB
 * ahead. From memory it took 0.51 cycles a value instead of 0.45 on a Zen 5. */
#include "frame.h"
#include <immintrin.h>

enum { COUNT = 8, WIDTH = 8, BLOCK = COUNT * WIDTH };

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  __m512d counters[COUNT];
  size_t i = 0;
  for (int k = 0; k < COUNT; k++) counters[k] = _mm512_setzero_pd();
  for (; i + BLOCK <= N; i += BLOCK)
    for (int k = 0; k < COUNT; k++) {
      __m512d part = _mm512_cvtps_pd(_mm256_loadu_ps(&data[i + k * WIDTH]));
      counters[k] = _mm512_add_pd(counters[k], part);
    }
  for (; i < N; i += WIDTH) {
    __mmask8 rest = N - i >= WIDTH ? 0xff : (__mmask8)((1u << (N - i)) - 1);
    __m256 part = _mm256_maskz_loadu_ps(rest, &data[i]);
    counters[0] = _mm512_add_pd(counters[0], _mm512_cvtps_pd(part));
  }
  for (int k = 1; k < COUNT; k++) counters[0] = _mm512_add_pd(counters[0], counters[k]);
  return (float)_mm512_reduce_add_pd(counters[0]);
}

FRAME("AVX-512 with eight accumulators", "avx512f,avx512vl", 0u);
