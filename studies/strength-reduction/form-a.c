/* Form A of the source, from its formula: each element by itself, with three multiplications and
 * two additions. The index is multiplied in twice, so that the products are the source's. */
#include "frame.h"

TIEBREAK_KERNEL void compute(double *elements, int count) {
  const double square = 1.1, linear = 2.2, constant = 3.3;
  for (int index = 0; index < count; index++)
    elements[index] = square * index * index + linear * index + constant;
}

FRAME("form A", "", compute, ULPS_PUBLISHED);
