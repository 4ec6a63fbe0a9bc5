/* What every C contestant of this study shares: the state, the checksum and the canonical form.
 *
 * A line of the answer is the bits of an element, in hexadecimal. Forms round differently, so an
 * element that lies as near to the exact value as its contract asks is written as the exact value
 * rounded once; any other is written as it is, and so differs from the oracle's answer. */
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <string.h>

/* Units in the last place by which element i may miss the exact value. The running sums of form B
 * are the source's own; their error grows with each of i steps by at most one unit. */
#define ULPS_PUBLISHED(i) ((i) + 2)
/* Of contestants with other bits than the source's: FMA rounds once for a product and a sum. */
#define ULPS_RELAXED(i) 1

__extension__ typedef unsigned __int128 frame_wide;

static uint64_t frame_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double frame_absolute(double value) { return value < 0 ? -value : value; }

/* A i^2 + B i + C of the doubles A, B and C, rounded once: in units of 2^-52 it is an integer of at
 * most 93 bits for i up to a million. */
static double frame_exact(uint64_t i) {
  const frame_wide a = (frame_wide)(1.1 * 0x1p52), b = (frame_wide)(2.2 * 0x1p52);
  const frame_wide c = (frame_wide)(3.3 * 0x1p52);
  return (double)(a * i * i + b * i + c) * 0x1p-52;
}

/* The width of a unit in the last place of a positive double. */
static double frame_ulp(double value) {
  uint64_t bits = frame_bits(value) & 0x7ff0000000000000u;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power * 0x1p-52;
}

static uint64_t frame_canonical(uint64_t i, double value, double ulps) {
  double exact = frame_exact(i);
  if (frame_absolute(value - exact) <= ulps * frame_ulp(exact)) return frame_bits(exact);
  return frame_bits(value);
}

static void frame_write(const tiebreak_sink *sink, uint64_t bits) {
  char line[17];
  for (int digit = 0; digit < 16; digit++)
    line[digit] = "0123456789abcdef"[bits >> (60 - 4 * digit) & 15];
  line[16] = '\n';
  sink->write(sink->context, line, sizeof line);
}

/* How many elements, and the upper half of the last one: cheap, and the same for every form. */
static uint64_t frame_checksum(const double *data, uint64_t count) {
  return count + (count ? frame_bits(data[count - 1]) >> 32 : 0);
}

#ifdef ACCURACY
/* Instead of a contestant, a program: the largest error of a form, in units in the last place. */
#include <stdio.h>
#define FRAME(name, needs, compute, ulps) \
  int main(void) { \
    const int lengths[] = {2000, 1000000}; \
    double *data = (double *)malloc(1000000 * sizeof(double)); \
    for (int k = 0; data && k < 2; k++) { \
      double worst = 0; \
      compute(data, lengths[k]); \
      for (uint64_t i = 0; i < (uint64_t)lengths[k]; i++) { \
        double error = frame_absolute(data[i] - frame_exact(i)) / frame_ulp(frame_exact(i)); \
        if (error > worst) worst = error; \
      } \
      printf(" %10.0f", worst); \
    } \
    free(data); \
    return 0; \
  } \
  typedef int frame_end
#else
/* Exports `compute(double *data, int length)` as a contestant. */
#define FRAME(name, needs, compute, ulps) \
  static uint64_t run(void *state) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    double *data = (double *)(void *)workload->output; \
    compute(data, (int)workload->items); \
    return frame_checksum(data, workload->items); \
  } \
  static void dump(void *state, const tiebreak_sink *sink) { \
    const tiebreak_workload *workload = (const tiebreak_workload *)state; \
    const double *data = (const double *)(const void *)workload->output; \
    for (uint64_t i = 0; i < workload->items; i++) \
      frame_write(sink, frame_canonical(i, data[i], (double)(ulps(i)))); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, 0u, 0u, 0u, tiebreak_copy_workload, 0, run, dump, free)

#endif

#endif
