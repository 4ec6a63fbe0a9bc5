/* A write position that is a plain word: who waits for it looks again and again. */
#define _GNU_SOURCE
#include "relax.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define POSITION_MASK UINT64_MAX
/* Looks between two yields. */
#define WAIT_LOOKS 1000

struct position {
  _Alignas(128) _Atomic uint64_t word;
};

static inline void position_init(struct position *position) { atomic_init(&position->word, 0); }

static inline uint64_t position_value(struct position *position) {
  return atomic_load_explicit(&position->word, memory_order_acquire);
}

static inline void position_publish(struct position *position, uint64_t value) {
  /* Release: who sees the position sees the items before it. */
  atomic_store_explicit(&position->word, value, memory_order_release);
}

static inline void position_wait(struct position *position, uint64_t seen) {
  for (;;) {
    for (int look = 0; look < WAIT_LOOKS; look++) {
      if (position_value(position) != seen) return;
      relax();
    }
    sched_yield();
  }
}

#include "race.h"
