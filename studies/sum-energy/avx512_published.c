/* The source's AVX-512 sum, word by word. Where N is no multiple of 16 its loop reads up to 15
 * values past the end and adds them, and the values after the last whole block are added twice. */
#include "frame.h"
#include <immintrin.h>

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  __m512d counter = _mm512_setzero_pd();
  for (size_t i = 0; i < N; i += 16) {
    __m512 v = _mm512_loadu_ps((__m512 *)&data[i]);
    __m512d part1 = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 0));
    __m512d part2 = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
    counter = _mm512_add_pd(counter, part1);
    counter = _mm512_add_pd(counter, part2);
  }
  double sum = _mm512_reduce_add_pd(counter);
  for (size_t i = N / 16 * 16; i < N; i++) {
    sum += data[i];
  }
  return sum;
}

FRAME("AVX-512 as published", "avx512f,avx512dq", 60u);
