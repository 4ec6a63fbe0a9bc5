/* The source's scalar sum: one accumulator of double precision, to which the values are added one
 * by one. */
#include "frame.h"

TIEBREAK_KERNEL float sum(const float *values, size_t count) {
  double total = 0;
  for (const float *end = values + count; values != end; values++)
    total += *values;
  return (float)total;
}

FRAME("naive", "", 0u);
