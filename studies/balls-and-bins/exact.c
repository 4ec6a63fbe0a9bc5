/* Ours: the same law without a ball.
 *
 * Let balls come at the times of a Poisson process that gives each bin one a unit of time. When
 * balls come says nothing about where they go, so the bins fill as they do ball by ball; and now
 * they do not depend on each other. With N(t) of Poisson's law with mean t, the first of n bins of
 * capacity k is full at a time T with
 *
 *   P(T > t) = P(N(t) < k)^n
 *
 * and given T the counts of the other n - 1 have Poisson's law with mean T among numbers below k. T
 * and these counts are drawn by inversion, each from a word of the stream.
 *
 * Poisson's weights are taken relative to that of k - 1, so that the others are products of j / t.
 * With `below` the sum of those below k and `above` of the rest, the odds of a full bin are above /
 * below. They must be u^(-1/n) - 1. Newton's method finds that for the logarithm of the odds, whose
 * derivative is 1 / above + 1 / below. */
#include "frame.h"
#include <math.h>

enum { TERMS_MAX = 1 << 14, STARTS = 1 << 10 };

typedef struct room {
  double sums[TERMS_MAX];      /* sums[i]: the weights of k - 1, k - 2, ..., k - 1 - i together */
  uint16_t starts[STARTS];     /* where to begin to look for a share of their sum */
} room;

/* Between 0 and 1, neither of them. */
static double uniform(uint64_t *stream) {
  return ((double)(tiebreak_random(stream) >> 11) + 0.5) * 0x1p-53;
}

/* Fills `sums` down to weights that no longer count, and says how many there are. */
static int sum_below(double *sums, double k, double t) {
  double weight = 1, sum = 1;
  int terms = 0;
  sums[terms++] = sum;
  for (double j = k - 1; j > 0 && weight > 1e-19 * sum; j--) {
    weight *= j / t;
    sum += weight;
    sums[terms++] = sum;
  }
  return terms;
}

static double sum_above(double k, double t) {
  double weight = 1, sum = 0;
  for (double j = k; weight > 1e-17 * sum; j++) {
    weight *= t / j;
    sum += weight;
  }
  return sum;
}

/* The time at which the first bin is full. */
static double time_full(double *sums, double n, double k, double u) {
  double odds = expm1(-log(u) / n);
  double t = fmax(k - sqrt(2 * k * log(n + 1)), k / 8); /* roughly, by a normal law */
  double start = t, step;
  double all = sums[sum_below(sums, k, t) - 1] + sum_above(k, t);
  do {
    double above = sum_above(k, t);
    /* All weights together are e^t (k - 1)! / t^(k - 1): known at the start, so known at t. */
    double below = all * exp(t - start - (k - 1) * log1p((t - start) / start)) - above;
    step = log(odds * below / above) / (1 / above + 1 / below);
    t = fmax(t + step, t / 8);
  } while (fabs(step) > 1e-10 * t);
  return t;
}

TIEBREAK_KERNEL uint64_t trial(room *room, const game *game, uint64_t *stream) {
  double *sums = room->sums, k = (double)game->capacity;
  double t = time_full(sums, (double)game->bins, k, uniform(stream));
  int terms = sum_below(sums, k, t);
  double sum = sums[terms - 1];
  for (int i = 0, start = 0; start < STARTS; start++) {
    while (sums[i] < sum / STARTS * start) i++;
    room->starts[start] = (uint16_t)i;
  }
  uint64_t balls = game->capacity;
  for (uint64_t other = 1; other < game->bins; other++) {
    double u = uniform(stream);
    int i = room->starts[(int)(u * STARTS)];
    while (sums[i] < u * sum) i++;
    balls += game->capacity - 1 - (uint64_t)i;
  }
  return balls;
}

FRAME("exact", "");
