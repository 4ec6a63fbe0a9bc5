/* What the oracle and the contestants share: the form of an input, and of a line of the answer.
 *
 * An input is a task, which takes a cache line, then the first arguments of sign(a, b), then the
 * second ones. */
#ifndef TASK_H
#define TASK_H

#include "tiebreak.h"
#include <string.h>

/* MEMORY applies sign to two arrays and writes a third. THROUGHPUT applies it to each of CHAINS
 * registers with one more, as many times as the task has rounds; LATENCY makes the second argument
 * of each step of the result of the step before. DOT adds up the products of two arrays. */
enum mode { MEMORY, THROUGHPUT, LATENCY, DOT };

enum { REGISTER = 64, CHAINS = 6 };

typedef struct task {
  uint64_t mode, bits, rounds, a_bytes, b_bytes, reserved[3];
} task;

static inline const uint8_t *task_a(const task *one) { return (const uint8_t *)(one + 1); }
static inline const uint8_t *task_b(const task *one) { return task_a(one) + one->a_bytes; }

/* A lane of an array, with its sign. */
static inline int64_t task_lane(const uint8_t *array, uint64_t at, uint64_t bits) {
  if (bits == 8) return (int8_t)array[at];
  int16_t half;
  int32_t word;
  if (bits == 16) return memcpy(&half, array + 2 * at, sizeof half), half;
  return memcpy(&word, array + 4 * at, sizeof word), word;
}

/* A line has a register in hexadecimal, byte by byte. */
static inline void task_write(const tiebreak_sink *sink, const uint8_t *bytes) {
  char line[2 * REGISTER + 1];
  for (int i = 0; i < 2 * REGISTER; i++)
    line[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
  line[2 * REGISTER] = '\n';
  sink->write(sink->context, line, sizeof line);
}

/* How many registers, and the last eight bytes of the output: cheap, and the same in every form. */
static inline uint64_t task_checksum(uint64_t items, const uint8_t *output, uint64_t bytes) {
  uint64_t last;
  memcpy(&last, output + bytes - sizeof last, sizeof last);
  return items + last;
}

#endif
