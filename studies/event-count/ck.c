/* ck_ec of Concurrency Kit, by Paul Khuong: the original. Which of the four is said by BITS, 32 or
 * 64, and SINGLE, 0 or 1; how it sleeps and wakes is the caller's, and stands here. */
#define _GNU_SOURCE
#include <ck_ec.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if BITS == 32
#define EVENT_MASK 0x7fffffffu
typedef struct ck_ec32 count;
#else
#define EVENT_MASK 0x7fffffffffffffffu
typedef struct ck_ec64 count;
#endif

struct event {
  _Alignas(128) count count;
};

static int gettime(const struct ck_ec_ops *ops, struct timespec *out) {
  (void)ops;
  return clock_gettime(CLOCK_MONOTONIC, out);
}

/* Deadlines are points in time of CLOCK_MONOTONIC, as FUTEX_WAIT_BITSET takes them. */
static void wait32(const struct ck_ec_wait_state *state, const uint32_t *address,
                   uint32_t expected, const struct timespec *deadline) {
  (void)state;
  syscall(SYS_futex, address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, deadline, NULL,
          FUTEX_BITSET_MATCH_ANY);
}

static void wait64(const struct ck_ec_wait_state *state, const uint64_t *address,
                   uint64_t expected, const struct timespec *deadline) {
  wait32(state, (const uint32_t *)address, (uint32_t)expected, deadline);
}

static void wake32(const struct ck_ec_ops *ops, const uint32_t *address) {
  (void)ops;
  syscall(SYS_futex, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX);
}

static void wake64(const struct ck_ec_ops *ops, const uint64_t *address) {
  wake32(ops, (const uint32_t *)address);
}

static const struct ck_ec_ops ops = {.gettime = gettime,
                                     .wait32 = wait32,
                                     .wait64 = wait64,
                                     .wake32 = wake32,
                                     .wake64 = wake64};
static const struct ck_ec_mode mode = {.ops = &ops, .single_producer = SINGLE};

static inline void event_init(struct event *event) { ck_ec_init(&event->count, 0); }

static inline uint64_t event_value(const struct event *event) {
  return ck_ec_value(&event->count);
}

static inline void event_increment(struct event *event) { ck_ec_inc(&event->count, &mode); }

static inline void event_wait(struct event *event, uint64_t seen) {
  (void)ck_ec_wait(&event->count, &mode, seen, NULL);
}

#include "race.h"
