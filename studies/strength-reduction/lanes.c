/* Ours: strength reduction with k running sums side by side.
 *
 * The element k places further on is y(i + k) = y(i) + d(i), with d(i) = A k (2 i + k) + B k, and
 * d(i + k) = d(i) + 2 A k^2 for every i. So each lane has its own pair of sums, and 64 lanes are
 * eight registers that wait for nothing but themselves: two additions for eight elements, no
 * multiplication, a store each cycle. Every SPAN elements the sums start again from the closed
 * form, which keeps the error from growing with the length of the array. */
#include "frame.h"

enum { WIDTH = 8, REGISTERS = 8, LANES = WIDTH * REGISTERS, SPAN = 64 * LANES };
typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double))));

static const double A = 1.1, B = 2.2, C = 3.3;

static double closed(double i) { return A * i * i + B * i + C; }

/* So many rounds of LANES elements from element `first` on. */
static void span(double *data, double first, int rounds) {
  const double step = 2 * A * LANES * LANES;
  lanes y[REGISTERS], d[REGISTERS];
  for (int r = 0; r < REGISTERS; r++) {
    for (int w = 0; w < WIDTH; w++) {
      double i = first + r * WIDTH + w;
      y[r][w] = closed(i);
      d[r][w] = A * LANES * (2 * i + LANES) + B * LANES;
    }
  }
  for (int round = 0; round < rounds; round++, data += LANES) {
    for (int r = 0; r < REGISTERS; r++) {
      memcpy(data + r * WIDTH, &y[r], sizeof y[r]);
      y[r] += d[r];
      d[r] += step;
    }
  }
}

TIEBREAK_KERNEL void compute(double *data, int length) {
  int i = 0;
  while (length - i >= LANES) {
    int rounds = (length - i < SPAN ? length - i : SPAN) / LANES;
    span(data + i, i, rounds);
    i += rounds * LANES;
  }
  for (; i < length; i++) data[i] = closed(i);
}

FRAME("lanes", "", compute, ULPS_PUBLISHED);
