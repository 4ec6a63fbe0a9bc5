/* The thread that waits: contestants/src/waiter.rs and system.rs in C. */
#ifndef WAITER_H
#define WAITER_H

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What is waited for: its value, and a wait that returns once the value is another. */
struct event;
static uint64_t event_value(const struct event *event);
static void event_wait(struct event *event, uint64_t seen);

/* Nothing here takes longer, or it is given up. */
#define PATIENCE_NS 10000000000u
/* Looks between two readings of the clock, and the first yield. */
#define LOOKS 2000
/* How long the thread has slept before it is woken: longer than an idle virtual CPU polls before it
 * halts, so that each is woken from the same depth. */
#define DEPTH_NS 250000u

struct waiter {
  /* What the waiting thread says, on lines of its own. */
  _Alignas(128) _Atomic uint64_t seen;
  _Atomic bool ends;
  _Atomic pid_t thread_id;
  _Atomic bool has_ended;
  _Alignas(128) struct event *event;
  pthread_t thread;
  int cpu;
  int status;
};

/* Tells the CPU that this is a loop that waits. */
static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Moves this thread to another CPU than the given one, the first that may be used; it stays where
 * it is if there is none. */
static void leave_cpu(int cpu) {
  FILE *online = fopen("/sys/devices/system/cpu/online", "r");
  if (!online) return;
  int first, last;
  while (fscanf(online, "%d", &first) == 1) {
    if (fscanf(online, "-%d", &last) != 1) last = first;
    for (int other = first; other <= last && other < CPU_SETSIZE; other++) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(other, &set);
      if (other != cpu && sched_setaffinity(0, sizeof(set), &set) == 0) goto done;
    }
    if (fgetc(online) != ',') break;
  }
done:
  fclose(online);
}

/* Waits again and again, and says what it saw. */
static void *follow(void *argument) {
  struct waiter *waiter = argument;
  leave_cpu(waiter->cpu);
  atomic_store(&waiter->thread_id, (pid_t)syscall(SYS_gettid));
  uint64_t seen = 0;
  /* Acquire: the end is stored before the increment that wakes this thread for it. */
  while (!atomic_load_explicit(&waiter->ends, memory_order_acquire)) {
    event_wait(waiter->event, seen);
    seen = event_value(waiter->event);
    /* Release: a thread that reads it knows that the wait is over. */
    atomic_store_explicit(&waiter->seen, seen, memory_order_release);
  }
  atomic_store(&waiter->has_ended, true);
  return NULL;
}

/* Acquire: what the thread did before it said so has happened. */
static inline bool has_seen(struct waiter *waiter, uint64_t count) {
  return atomic_load_explicit(&waiter->seen, memory_order_acquire) == count;
}

static bool is_asleep(struct waiter *waiter, uint64_t count) {
  if (!has_seen(waiter, count)) return false;
  char line[128];
  const ssize_t bytes = pread(waiter->status, line, sizeof(line) - 1, 0);
  if (bytes <= 0) return false;
  line[bytes] = 0;
  /* The name in brackets may have brackets and blanks of its own. */
  const char *name_end = strrchr(line, ')');
  return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

static bool has_started(struct waiter *waiter, uint64_t unused) {
  (void)unused;
  return atomic_load(&waiter->thread_id) != 0;
}

static bool has_ended(struct waiter *waiter, uint64_t unused) {
  (void)unused;
  return atomic_load(&waiter->has_ended);
}

/* Looks until it is so; yields, and in the end gives up. */
static inline bool until(bool (*is_so)(struct waiter *, uint64_t), struct waiter *waiter,
                         uint64_t count) {
  for (uint64_t since = 0;;) {
    for (int look = 0; look < LOOKS; look++) {
      if (is_so(waiter, count)) return true;
      relax();
    }
    if (!since) since = now_ns();
    if (now_ns() - since > PATIENCE_NS) return false;
    sched_yield();
  }
}

/* Starts the thread, on another CPU than this thread's if there is one. */
static bool waiter_start(struct waiter *waiter, struct event *event) {
  memset(waiter, 0, sizeof(*waiter));
  waiter->event = event;
  waiter->cpu = sched_getcpu();
  if (pthread_create(&waiter->thread, NULL, follow, waiter) != 0) return false;
  if (!until(has_started, waiter, 0)) return false;
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)atomic_load(&waiter->thread_id));
  waiter->status = open(path, O_RDONLY | O_CLOEXEC);
  return waiter->status >= 0;
}

/* Waits until the thread has seen this count and sleeps again, as deep as it will. */
static bool waiter_settle(struct waiter *waiter, uint64_t count) {
  if (!until(is_asleep, waiter, count)) return false;
  const uint64_t since = now_ns();
  while (now_ns() - since < DEPTH_NS) relax();
  return true;
}

/* Waits until the thread has said that it has seen this count. No clock is read if that comes
 * soon. */
static inline bool waiter_wait_until_seen(struct waiter *waiter, uint64_t count) {
  return until(has_seen, waiter, count);
}

#endif
