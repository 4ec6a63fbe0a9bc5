/* The ring and the thread that reads: contestants/src/ring.rs and consumer.rs in C. */
#ifndef CONSUMER_H
#define CONSUMER_H

#include "relax.h"
#include "task.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Nothing here takes longer, or it is given up. */
#define PATIENCE_NS 10000000000u
/* Looks between two readings of the clock, and the first yield. */
#define LOOKS 2000

/* What stands between the two threads, each word on lines of its own. */
struct ring {
  struct position written;
  _Alignas(128) _Atomic uint64_t read;
  _Alignas(128) _Atomic uint64_t slots[SLOTS];
};

struct consumer {
  struct ring *ring;
  pthread_t thread;
  int cpu;
  /* How far the thread shall read, and whether it shall end. */
  uint64_t goal;
  bool ends;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  /* The goal that the thread has begun to read for, the one that it has reached, and its sum. */
  _Alignas(128) _Atomic uint64_t begun;
  _Atomic uint64_t reached;
  _Atomic uint64_t sum;
  _Atomic bool has_ended;
};

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Looks until the word is at least this; yields, and in the end gives up. */
static inline bool until(_Atomic uint64_t *word, uint64_t least) {
  for (uint64_t since = 0;;) {
    for (int look = 0; look < LOOKS; look++) {
      /* Acquire: what was done before it was said has happened. */
      if (atomic_load_explicit(word, memory_order_acquire) >= least) return true;
      relax();
    }
    if (!since) since = now_ns();
    if (now_ns() - since > PATIENCE_NS) return false;
    sched_yield();
  }
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

static struct sum read_until(struct ring *ring, uint64_t *position, uint64_t goal) {
  struct sum sum = {0, 0};
  while (*position != goal) {
    const uint64_t written = position_value(&ring->written);
    const uint64_t unread = (written - *position) & POSITION_MASK;
    if (unread == 0) {
      position_wait(&ring->written, written);
      continue;
    }
    /* Relaxed: the positions order the items. */
    for (uint64_t at = *position; at < *position + unread; at++)
      sum_add(&sum, atomic_load_explicit(&ring->slots[at % SLOTS], memory_order_relaxed));
    *position += unread;
    /* Release: the slots are written again only after they were read. */
    atomic_store_explicit(&ring->read, *position, memory_order_release);
  }
  return sum;
}

/* Reads up to the position that it is given, again and again. */
static void *follow(void *argument) {
  struct consumer *consumer = argument;
  leave_cpu(consumer->cpu);
  for (uint64_t position = 0;;) {
    pthread_mutex_lock(&consumer->mutex);
    while (!consumer->ends && consumer->goal == position)
      pthread_cond_wait(&consumer->changed, &consumer->mutex);
    const uint64_t goal = consumer->goal;
    const bool ends = consumer->ends;
    pthread_mutex_unlock(&consumer->mutex);
    if (ends) break;
    atomic_store_explicit(&consumer->begun, goal, memory_order_release);
    const struct sum sum = read_until(consumer->ring, &position, goal);
    atomic_store_explicit(&consumer->sum, sum.sums, memory_order_relaxed);
    atomic_store_explicit(&consumer->reached, goal, memory_order_release);
  }
  atomic_store(&consumer->has_ended, true);
  return NULL;
}

static void consumer_tell(struct consumer *consumer, uint64_t goal, bool ends) {
  pthread_mutex_lock(&consumer->mutex);
  consumer->goal = goal;
  consumer->ends = ends;
  pthread_cond_signal(&consumer->changed);
  pthread_mutex_unlock(&consumer->mutex);
}

/* Starts the thread, on another CPU than this thread's if there is one. */
static bool consumer_start(struct consumer *consumer, struct ring *ring) {
  consumer->ring = ring;
  consumer->cpu = sched_getcpu();
  pthread_mutex_init(&consumer->mutex, NULL);
  pthread_cond_init(&consumer->changed, NULL);
  return pthread_create(&consumer->thread, NULL, follow, consumer) == 0;
}

/* Whether the thread, which has reached its goal, has ended. */
static bool consumer_stop(struct consumer *consumer, uint64_t goal) {
  consumer_tell(consumer, goal, true);
  const uint64_t since = now_ns();
  while (!atomic_load(&consumer->has_ended) && now_ns() - since < PATIENCE_NS) sched_yield();
  return atomic_load(&consumer->has_ended) && pthread_join(consumer->thread, NULL) == 0;
}

#endif
