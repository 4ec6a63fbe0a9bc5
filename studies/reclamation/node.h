/* What is read, replaced and freed, as node.rs of the contestants in Rust: an object that knows
 * whether it is whole. */
#ifndef NODE_H
#define NODE_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Two words that belong together. One that was freed does not give the key any more. */
typedef struct {
  volatile uint64_t value;
  volatile uint64_t seal;
} node;

/* Objects are counted only when an answer is dumped, never while something is timed. */
static atomic_int node_is_counting;
static _Atomic int64_t node_alive, node_peak;

__attribute__((cold, noinline)) static void node_count_change(int64_t change) {
  int64_t alive = atomic_fetch_add_explicit(&node_alive, change, memory_order_relaxed) + change;
  int64_t peak = atomic_load_explicit(&node_peak, memory_order_relaxed);
  while (alive > peak &&
         !atomic_compare_exchange_weak_explicit(&node_peak, &peak, alive, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

static inline void node_count(int64_t change) {
  if (atomic_load_explicit(&node_is_counting, memory_order_relaxed)) node_count_change(change);
}

static inline node *node_new(uint64_t key, uint64_t number) {
  node *object = malloc(sizeof *object);
  if (!object) abort();
  node_count(1);
  object->value = number * UINT64_C(0x9e3779b97f4a7c15);
  object->seal = object->value ^ key;
  return object;
}

static inline uint64_t node_read(const node *object) { return object->value ^ object->seal; }

static inline void node_free(void *object) {
  node_count(-1);
  ((node *)object)->value = 0xdead;
  ((node *)object)->seal = 0;
  free(object);
}

#endif
