/* A write position that is a ck_ec of Concurrency Kit, by Paul Khuong. Which of the four is said by
 * BITS, 32 or 64, and SINGLE, 0 or 1; how it sleeps and wakes is the caller's, and stands here. */
#define _GNU_SOURCE
#include <ck_ec.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if BITS == 32
#define POSITION_MASK 0x7fffffffu
typedef struct ck_ec32 count;
#else
#define POSITION_MASK 0x7fffffffffffffffu
typedef struct ck_ec64 count;
#endif

struct position {
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

static inline void position_init(struct position *position) { ck_ec_init(&position->count, 0); }

static inline uint64_t position_value(struct position *position) {
  return ck_ec_value(&position->count);
}

static inline void position_publish(struct position *position, uint64_t value) {
  (void)value;
  ck_ec_inc(&position->count, &mode);
}

static inline void position_wait(struct position *position, uint64_t seen) {
  (void)ck_ec_wait(&position->count, &mode, seen, NULL);
}

#include "race.h"
