/* The source's sum by AVX-512, from its description: sixteen floats at a time become two vectors
 * of eight doubles, which are added to one accumulator, the lower half first. Two faults are the
 * source's and stay: where the count is no multiple of sixteen, the last load reads up to fifteen
 * values past the end and adds them, and those after the last whole sixteen are added again. */
#include "frame.h"
#include <immintrin.h>

enum { LANES = 16 };

TIEBREAK_KERNEL float sum(const float *values, size_t count) {
  __m512d total = _mm512_setzero_pd();
  for (size_t at = 0; at < count; at += LANES) {
    const __m512 sixteen = _mm512_loadu_ps(values + at);
    const __m256 lower = _mm512_extractf32x8_ps(sixteen, 0);
    const __m256 upper = _mm512_extractf32x8_ps(sixteen, 1);
    total = _mm512_add_pd(total, _mm512_cvtps_pd(lower));
    total = _mm512_add_pd(total, _mm512_cvtps_pd(upper));
  }
  double scalar = _mm512_reduce_add_pd(total);
  for (const float *rest = values + (count - count % LANES); rest < values + count; rest++)
    scalar += *rest;
  return (float)scalar;
}

FRAME("AVX-512 as published", "avx512f,avx512dq", 60u);
