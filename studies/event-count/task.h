/* The input of this study: a head, and for TASK_IN_WORK records, which are used in turn.
 *
 * A run counts and gives what it counted, xor the sum of the hashes (0 without records);
 * all ones if the count came out wrong or the waiting thread missed it. The answer is three lines:
 * what the last run counted, 1 if anything was ever missed, the sum. */
#ifndef TASK_H
#define TASK_H

#include <stdint.h>

enum task {
  TASK_ALONE,   /* so many increments, and no thread waits */
  TASK_IN_WORK, /* an increment after each record's hash, no thread waits */
  TASK_WAITER,  /* one increment that wakes a thread */
  TASK_WAKE,    /* the same, and the thread's word that it runs */
  TASK_TURNS,   /* so many of these, one after the other */
  TASK_CHASE    /* so many increments, however the waiting thread keeps up */
};

struct head {
  uint8_t task;
  uint8_t unused[7];
  uint64_t size;
};

/* At most so many records, so that they stay in the first cache. */
#define RECORDS_MAX 32
#define RECORD_WORDS 32

struct record {
  uint64_t words[RECORD_WORDS];
};

/* The work of a record: each word's step needs the one before it. */
static inline uint64_t record_hash(const struct record *record) {
  uint64_t hash = 0xcbf29ce484222325u;
  /* As rustc does by itself; a loop of 32 steps is left by a branch that is guessed wrongly. */
#pragma GCC unroll 32
  for (int i = 0; i < RECORD_WORDS; i++) {
    hash = (hash ^ record->words[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

#endif
