/* Form B of the source, from its description: no multiplication. The element and its growth are
 * running sums, and each element waits for the one before. */
#include "frame.h"

TIEBREAK_KERNEL void compute(double *elements, int count) {
  const double square = 1.1, linear = 2.2, constant = 3.3;
  const double growth_of_growth = square + square;
  double growth = square + linear, element = constant;
  for (int index = 0; index < count; index++) {
    elements[index] = element;
    element += growth;
    growth += growth_of_growth;
  }
}

FRAME("form B", "", compute, ULPS_PUBLISHED);
