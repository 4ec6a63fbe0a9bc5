/* The source's AVX-512 sum with its loop over whole blocks only, and a masked load for the rest. */
#include "frame.h"
#include <immintrin.h>

static inline __m512d add(__m512d counter, __m512 v) {
  counter = _mm512_add_pd(counter, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 0)));
  return _mm512_add_pd(counter, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
}

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  __m512d counter = _mm512_setzero_pd();
  size_t i = 0;
  for (; i < N / 16 * 16; i += 16) counter = add(counter, _mm512_loadu_ps(&data[i]));
  __mmask16 rest = (__mmask16)((1u << (N - i)) - 1);
  counter = add(counter, _mm512_maskz_loadu_ps(rest, &data[i]));
  return (float)_mm512_reduce_add_pd(counter);
}

FRAME("AVX-512 with a masked tail", "avx512f,avx512dq", 0u);
