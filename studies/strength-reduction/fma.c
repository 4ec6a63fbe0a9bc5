/* Ours: Horner's form by fused multiply-add, (A i + B) i + C: two instructions for a register, each
 * of which rounds once, so the bits differ from the source's. The index is a register of doubles,
 * counted on by an addition: nothing is converted from integers. */
#include "frame.h"

enum { WIDTH = 8, REGISTERS = 4 };
typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double))));

static const double A = 1.1, B = 2.2, C = 3.3;

TIEBREAK_KERNEL void compute(double *data, int length) {
  lanes index[REGISTERS];
  int i = 0;
  for (int r = 0; r < REGISTERS; r++)
    for (int w = 0; w < WIDTH; w++) index[r][w] = r * WIDTH + w;
  for (; i + WIDTH * REGISTERS <= length; i += WIDTH * REGISTERS) {
    for (int r = 0; r < REGISTERS; r++) {
      lanes value = (A * index[r] + B) * index[r] + C;
      memcpy(data + i + r * WIDTH, &value, sizeof value);
      index[r] += (double)(WIDTH * REGISTERS);
    }
  }
  for (; i < length; i++) data[i] = (A * i + B) * i + C;
}

FRAME("fma", "fma", compute, ULPS_RELAXED);
