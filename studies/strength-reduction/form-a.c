/* Form A of the source: the closed form, three multiplications and two additions an element. */
#include "frame.h"

TIEBREAK_KERNEL void compute(double *data, int length) {
  const double A = 1.1, B = 2.2, C = 3.3;
  int i;
  for (i = 0; i < length; i++) {
    data[i] = A * i * i + B * i + C;
  }
}

FRAME("form A", "", compute, ULPS_PUBLISHED);
