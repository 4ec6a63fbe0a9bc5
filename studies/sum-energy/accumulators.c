/* Ours: the scalar sum with eight accumulators, so that no addition waits for the one before. */
#include "frame.h"

enum { COUNT = 8 };

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  double counters[COUNT] = {0}, total = 0;
  size_t i = 0;
  for (; i + COUNT <= N; i += COUNT)
    for (int k = 0; k < COUNT; k++) counters[k] += data[i + k];
  for (; i < N; i++) total += data[i];
  for (int k = 0; k < COUNT; k++) total += counters[k];
  return (float)total;
}

FRAME("eight accumulators", "", 0u);
