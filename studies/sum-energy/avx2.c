/* Ours: AVX2 with eight accumulators of four doubles. */
#include "frame.h"
#include <immintrin.h>

enum { COUNT = 8, WIDTH = 4 };

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  __m256d counters[COUNT];
  double lanes[WIDTH], total = 0;
  size_t i = 0;
  for (int k = 0; k < COUNT; k++) counters[k] = _mm256_setzero_pd();
  for (; i + COUNT * WIDTH <= N; i += COUNT * WIDTH)
    for (int k = 0; k < COUNT; k++) {
      __m256d part = _mm256_cvtps_pd(_mm_loadu_ps(&data[i + k * WIDTH]));
      counters[k] = _mm256_add_pd(counters[k], part);
    }
  for (; i < N; i++) total += data[i];
  for (int k = 1; k < COUNT; k++) counters[0] = _mm256_add_pd(counters[0], counters[k]);
  _mm256_storeu_pd(lanes, counters[0]);
  for (int k = 0; k < WIDTH; k++) total += lanes[k];
  return (float)total;
}

FRAME("AVX2 with eight accumulators", "avx2", 0u);
