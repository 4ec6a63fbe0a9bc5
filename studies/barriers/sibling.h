/* A second thread of this process on another CPU: the one that a barrier has to reach. */
#ifndef BARRIERS_SIBLING_H
#define BARRIERS_SIBLING_H

#include "clock.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* What the thread does. */
enum mode { ASLEEP, SPINS, LIGHT, CONTROL, STOPS };

/* Nearer than this before and after a barrier the thread was seen to run. */
#define NEAR_NS 2000u

/* Each word that both sides use has lines of its own. */
#define APART _Alignas(128)

struct sibling {
  pthread_t thread;
  int cpu;
  APART _Atomic uint32_t mode;
  APART _Atomic uint64_t count; /* goes up while the thread spins */
  /* The litmus test, see litmus.h. */
  APART _Atomic uint64_t turn;
  APART _Atomic uint64_t done;
  APART _Atomic uint32_t x;
  APART _Atomic uint32_t y;
  uint32_t saw; /* what the thread has read of y, before done */
};

static void sibling_turn(struct sibling *sibling, uint32_t mode, uint64_t *last, uint64_t *random);

static void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, 0, 0, 0);
}

static void *sibling_main(void *context) {
  struct sibling *sibling = context;
  uint64_t count = 0, last = 0, random = 1;
  if (stay_on(sibling->cpu)) return 0;
  for (;;) {
    uint32_t mode = atomic_load_explicit(&sibling->mode, memory_order_acquire);
    switch (mode) {
      case ASLEEP: futex(&sibling->mode, FUTEX_WAIT, ASLEEP); break;
      case SPINS: atomic_store_explicit(&sibling->count, ++count, memory_order_relaxed); break;
      case STOPS: return 0;
      default: sibling_turn(sibling, mode, &last, &random);
    }
  }
}

static void sibling_set(struct sibling *sibling, enum mode mode) {
  uint32_t was = atomic_exchange(&sibling->mode, mode);
  if (was == ASLEEP) futex(&sibling->mode, FUTEX_WAKE, 1);
}

/* Whether the thread is seen to run within so many nanoseconds from now. */
static int sibling_moves(struct sibling *sibling, uint64_t within_ns) {
  uint64_t was = atomic_load_explicit(&sibling->count, memory_order_relaxed);
  uint64_t begin = now_ns();
  do {
    if (atomic_load_explicit(&sibling->count, memory_order_relaxed) != was) return 1;
  } while (now_ns() - begin < within_ns);
  return 0;
}

static void sibling_end(struct sibling *sibling) {
  sibling_set(sibling, STOPS);
  pthread_join(sibling->thread, 0);
  free(sibling);
}

/* The thread, asleep, on another CPU than this one; null if there is none. */
static struct sibling *sibling_begin(void) {
  cpu_set_t cpus;
  allowed_cpus(&cpus);
  int here = sched_getcpu(), cpu = 0;
  while (cpu < CPU_SETSIZE && (cpu == here || !CPU_ISSET(cpu, &cpus))) cpu++;
  if (cpu == CPU_SETSIZE) return 0;
  struct sibling *sibling = aligned_alloc(128, sizeof *sibling);
  if (!sibling) return 0;
  memset(sibling, 0, sizeof *sibling);
  sibling->cpu = cpu;
  if (pthread_create(&sibling->thread, 0, sibling_main, sibling)) {
    free(sibling);
    return 0;
  }
  return sibling;
}

#endif
