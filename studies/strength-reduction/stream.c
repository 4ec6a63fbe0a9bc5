/* Ours: as fma.c, with stores that go around the caches. It shows what is lost where the array fits
 * into them. */
#include "frame.h"
#include <immintrin.h>

TIEBREAK_KERNEL void compute(double *data, int length) {
  const __m512d A = _mm512_set1_pd(1.1), B = _mm512_set1_pd(2.2), C = _mm512_set1_pd(3.3);
  __m512d index = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);
  int i = 0;
  for (; i + 8 <= length; i += 8) {
    _mm512_stream_pd(data + i, _mm512_fmadd_pd(_mm512_fmadd_pd(A, index, B), index, C));
    index = _mm512_add_pd(index, _mm512_set1_pd(8));
  }
  for (; i < length; i++) data[i] = (1.1 * i + 2.2) * i + 3.3;
  _mm_sfence();
}

FRAME("stream", "avx512f", compute, ULPS_RELAXED);
