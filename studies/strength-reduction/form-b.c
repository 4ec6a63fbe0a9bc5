/* Form B of the source: two running sums, which make each element wait for the one before. */
#include "frame.h"

TIEBREAK_KERNEL void compute(double *data, int length) {
  const double A = 1.1, B = 2.2, C = 3.3;
  const double A2 = A + A;
  double Z = A + B;
  double Y = C;
  int i;
  for (i = 0; i < length; i++) {
    data[i] = Y;
    Y += Z;
    Z += A2;
  }
}

FRAME("form B", "", compute, ULPS_PUBLISHED);
