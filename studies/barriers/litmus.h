/* Store buffering: this thread does "store y, heavy side, load x", the sibling "store x, light
 * side, load y". Both must not read 0. Without a barrier on either side they sometimes do: that is
 * the control, and where it shows nothing the test proves nothing. */
#ifndef BARRIERS_LITMUS_H
#define BARRIERS_LITMUS_H

#include "sibling.h"

/* So many forbidden outcomes of the control prove that the test can see one. */
#define CONTROL_ENOUGH 100u
#define CONTROL_NS 20000000000u
/* Slow barriers get as many turns as fit. */
#define LITMUS_NS 500000000u
#define LITMUS_FEWEST 5u
/* No side waits longer than this for the other one. */
#define TURN_NS 1000000000u
/* After this the other side is not on its CPU, and others may have this one. */
#define YIELD_NS 20000u

struct litmus {
  uint64_t turns;
  uint64_t forbidden;
};

/* Up to two to the power of `bits` steps, of a cycle or so. The sibling hears of a turn only after
 * some 100 ns, more where CPUs are far apart, so this side draws from a longer time. */
static void delay(uint64_t *random, int bits) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  uint64_t left = *random >> (64 - bits);
  while (left--) __asm__ __volatile__("" : : : "memory");
}

/* One turn of the sibling, or a look whether there is one. */
static void sibling_turn(struct sibling *sibling, uint32_t mode, uint64_t *last,
                         uint64_t *random) {
  uint64_t turn = atomic_load_explicit(&sibling->turn, memory_order_acquire);
  if (turn == *last) return;
  *last = turn;
  delay(random, 7);
  atomic_store_explicit(&sibling->x, 1, memory_order_relaxed);
  if (mode == LIGHT) {
    light();
  } else {
    __asm__ __volatile__("" : : : "memory");
  }
  sibling->saw = atomic_load_explicit(&sibling->y, memory_order_relaxed);
  atomic_store_explicit(&sibling->done, turn, memory_order_release);
}

/* Turns until one of the limits; ends early if the sibling does not answer or the barrier fails. */
static struct litmus litmus(struct sibling *sibling, enum mode mode, struct litmus most,
                            uint64_t most_ns) {
  struct litmus seen = {0, 0};
  uint64_t begin = now_ns(), turn = atomic_load(&sibling->turn), random = 7;
  sibling_set(sibling, mode);
  while (seen.turns < most.turns && seen.forbidden < most.forbidden &&
         now_ns() - begin < most_ns) {
    atomic_store_explicit(&sibling->x, 0, memory_order_relaxed);
    atomic_store_explicit(&sibling->y, 0, memory_order_relaxed);
    atomic_store_explicit(&sibling->turn, ++turn, memory_order_release);
    delay(&random, 12);
    atomic_store_explicit(&sibling->y, 1, memory_order_relaxed);
    if (mode == LIGHT) {
      if (!heavy()) goto end;
    } else {
      __asm__ __volatile__("" : : : "memory");
    }
    uint32_t saw = atomic_load_explicit(&sibling->x, memory_order_relaxed);
    uint64_t since = now_ns();
    while (atomic_load_explicit(&sibling->done, memory_order_acquire) != turn) {
      uint64_t waited_ns = now_ns() - since;
      if (waited_ns > TURN_NS) goto end;
      if (waited_ns > YIELD_NS) sched_yield();
    }
    seen.turns++;
    seen.forbidden += !saw && !sibling->saw;
  }
end:
  sibling_set(sibling, ASLEEP);
  return seen;
}

#endif
