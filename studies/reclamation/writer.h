/* The second thread of read-write, as writer.rs of the contestants in Rust: it replaces the object
 * at a steady rate while a run lasts. writer_thread calls writer_register, writer_replace and
 * writer_unregister, which the contestant has. */
#ifndef WRITER_H
#define WRITER_H

#include "node.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

/* From one replacement to the next; how long it stays awake between two runs; how long a run waits
 * for it to wake. */
enum { PERIOD_NS = 5000, LINGER_NS = 300000, WAKE_MAX_NS = 1000000000 };

typedef struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  _Atomic uint64_t phase; /* odd while a run lasts */
  atomic_bool is_asleep, is_over;
  _Atomic uint64_t replaced;
  _Atomic(node *) *current;
  uint64_t key;
  int reader_cpu;
} writer;

static void writer_register(void);
static uint64_t writer_replace(_Atomic(node *) *current, node *next);
static void writer_unregister(void);

static inline uint64_t writer_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Either the writer sees the new phase here, or the run sees it asleep. */
static void writer_sleep(writer *it, uint64_t phase) {
  pthread_mutex_lock(&it->lock);
  atomic_store(&it->is_asleep, true);
  while (atomic_load(&it->phase) == phase && !atomic_load(&it->is_over))
    pthread_cond_wait(&it->woken, &it->lock);
  atomic_store(&it->is_asleep, false);
  pthread_mutex_unlock(&it->lock);
}

/* On any CPU but the reader's; where there is no other it stays, and the two take turns. */
static void writer_avoid(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (i != cpu) CPU_SET(i, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void *writer_thread(void *argument) {
  writer *it = argument;
  writer_avoid(it->reader_cpu);
  writer_register();
  uint64_t last_run = writer_now_ns(), number = 0;
  while (!atomic_load_explicit(&it->is_over, memory_order_relaxed)) {
    uint64_t phase = atomic_load_explicit(&it->phase, memory_order_relaxed);
    uint64_t now = writer_now_ns();
    if (phase % 2 == 1) {
      last_run = now;
    } else if (now - last_run > LINGER_NS) {
      writer_sleep(it, phase);
      last_run = writer_now_ns();
      continue;
    }
    number++;
    /* An object that is not whole here is not whole for anybody. */
    if (writer_replace(it->current, node_new(it->key, number)) != it->key) abort();
    atomic_store_explicit(&it->replaced, number, memory_order_relaxed);
    while (writer_now_ns() < now + PERIOD_NS) sched_yield();
  }
  writer_unregister();
  return NULL;
}

static bool writer_start(writer *it, _Atomic(node *) *current, uint64_t key) {
  pthread_mutex_init(&it->lock, NULL);
  pthread_cond_init(&it->woken, NULL);
  it->current = current;
  it->key = key;
  it->reader_cpu = sched_getcpu();
  return pthread_create(&it->thread, NULL, writer_thread, it) == 0;
}

__attribute__((cold, noinline)) static void writer_wake(writer *it) {
  uint64_t before = atomic_load(&it->replaced), start = writer_now_ns();
  pthread_mutex_lock(&it->lock);
  pthread_cond_signal(&it->woken);
  pthread_mutex_unlock(&it->lock);
  while (atomic_load(&it->replaced) == before && writer_now_ns() - start < WAKE_MAX_NS)
    sched_yield();
}

/* A run begins. If the writer slept, it has replaced the object once when this returns. */
static inline void writer_begin(writer *it) {
  atomic_fetch_add(&it->phase, 1);
  if (atomic_load(&it->is_asleep)) writer_wake(it);
}

static inline void writer_end(writer *it) {
  atomic_fetch_add_explicit(&it->phase, 1, memory_order_relaxed);
}

static void writer_stop(writer *it) {
  atomic_store(&it->is_over, true);
  pthread_mutex_lock(&it->lock);
  pthread_cond_signal(&it->woken);
  pthread_mutex_unlock(&it->lock);
  pthread_join(it->thread, NULL);
}

#endif
