/* The source's scalar sum: one accumulator, a value at a time. */
#include "frame.h"

TIEBREAK_KERNEL float sum(float *data, size_t N) {
  double counter = 0;
  for (size_t i = 0; i < N; i++) {
    counter += data[i];
  }
  return counter;
}

FRAME("naive", "", 0u);
