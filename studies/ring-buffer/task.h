/* The input of this study, and what is made of it.
 *
 * Items are first, first + step, first + 2 step ... A run writes `size` of them and gives a sum: of
 * TASK_PUSH that of what still stands in the ring, of TASK_PAIRS that of what the other thread has
 * read; all ones if that thread came to no end. The answer is two lines: 1 if that ever happened,
 * and the sum. */
#ifndef TASK_H
#define TASK_H

#include <stdint.h>

enum task {
  TASK_PUSH, /* one thread writes; what is full is declared read */
  TASK_PAIRS /* one thread writes, another reads */
};

struct input {
  uint64_t task;
  uint64_t size;
  uint64_t first;
  uint64_t step;
};

#define SLOTS 1024

/* A sum that depends on the order: of all items, and of all sums so far (Fletcher's). */
struct sum {
  uint64_t items;
  uint64_t sums;
};

static inline void sum_add(struct sum *sum, uint64_t item) {
  sum->items += item;
  sum->sums += sum->items;
}

#endif
