/* The source's loop: every STRIDE-th byte of a large array, to another one. The kernel is a call
 * that learns the stride when it runs, as a loop over strides does. */
#include "frame.h"

TIEBREAK_KERNEL void copy(const uint8_t *from, uint8_t *to, size_t size, size_t stride) {
  for (size_t i = 0; i < size; i += stride) {
    to[i] = from[i];
  }
}

FRAME("strided copy", copy, STRIDE);
