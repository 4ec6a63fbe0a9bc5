/* What is timed: contestants/src/race.rs in C. Before this header is included there are
 *
 *   struct position                  a ring's write position
 *   POSITION_MASK                    the value's bits: it wraps where they end
 *   position_init, position_value    of it
 *   position_publish                 makes it one more, which is the given value
 *   position_wait                    returns once the value is another
 */
#ifndef RACE_H
#define RACE_H

#include "consumer.h"
#include "tiebreak.h"

/* The checksum where the reading thread did not come to an end. */
#define LOST UINT64_MAX

struct state {
  struct ring ring;
  struct consumer consumer;
  struct input input;
  uint64_t position;
  uint64_t sum;
  bool is_lost;
};

/* The writing side. */
struct writer {
  struct ring *ring;
  uint64_t position;
  uint64_t full; /* the ring is full there, as far as is known */
};

/* Waits for a free slot; gives the position at which the next look is due. */
static TIEBREAK_SEPARATE uint64_t wait_for_room(struct ring *ring, uint64_t position) {
  if (position >= SLOTS) until(&ring->read, position - SLOTS + 1);
  const uint64_t full = atomic_load_explicit(&ring->read, memory_order_acquire) + SLOTS;
  return full > position ? full : position + 1;
}

static inline void push(struct writer *writer, uint64_t item) {
  if (writer->position == writer->full)
    writer->full = wait_for_room(writer->ring, writer->position);
  struct ring *ring = (struct ring *)tiebreak_launder(writer->ring);
  /* Relaxed: the position that follows has the release. */
  atomic_store_explicit(&ring->slots[writer->position % SLOTS], item, memory_order_relaxed);
  writer->position++;
  position_publish(&ring->written, writer->position);
}

static void *prepare(const tiebreak_workload *workload) {
  struct state *state = aligned_alloc(_Alignof(struct state), sizeof(struct state));
  if (!state) return NULL;
  memset(state, 0, sizeof(*state));
  memcpy(&state->input, workload->input, sizeof(state->input));
  position_init(&state->ring.written);
  if (state->input.task == TASK_PAIRS && !consumer_start(&state->consumer, &state->ring))
    return NULL;
  return state;
}

/* The other thread begins to read. */
static void reset(void *argument) {
  struct state *state = argument;
  if (state->input.task != TASK_PAIRS) return;
  const uint64_t goal = state->position + state->input.size;
  consumer_tell(&state->consumer, goal, false);
  if (!until(&state->consumer.begun, goal)) state->is_lost = true;
}

/* The sum of what still stands in the ring. */
static uint64_t last(struct state *state) {
  const uint64_t kept = state->input.size < SLOTS ? state->input.size : SLOTS;
  struct sum sum = {0, 0};
  for (uint64_t at = state->position - kept; at < state->position; at++)
    sum_add(&sum, atomic_load_explicit(&state->ring.slots[at % SLOTS], memory_order_relaxed));
  return sum.sums;
}

static TIEBREAK_SEPARATE void run_push(struct state *state) {
  struct writer writer = {&state->ring, state->position, state->position};
  uint64_t item = state->input.first;
  for (uint64_t left = state->input.size; left > 0;) {
    const uint64_t now = left < SLOTS ? left : SLOTS;
    for (uint64_t i = 0; i < now; i++) {
      push(&writer, item);
      item += state->input.step;
    }
    /* Release, as by the reading thread. */
    atomic_store_explicit(&state->ring.read, writer.position, memory_order_release);
    left -= now;
  }
  state->position = writer.position;
  state->sum = last(state);
}

static TIEBREAK_SEPARATE void run_pairs(struct state *state) {
  struct writer writer = {&state->ring, state->position, state->position};
  uint64_t item = state->input.first;
  for (uint64_t i = 0; i < state->input.size; i++) {
    push(&writer, item);
    item += state->input.step;
  }
  state->position = writer.position;
  if (!until(&state->consumer.reached, state->position)) state->is_lost = true;
  state->sum = atomic_load_explicit(&state->consumer.sum, memory_order_relaxed);
}

static uint64_t run(void *argument) {
  struct state *state = argument;
  if (state->input.task == TASK_PUSH)
    run_push(state);
  else
    run_pairs(state);
  return state->is_lost ? LOST : state->sum;
}

static void dump(void *argument, const tiebreak_sink *sink) {
  struct state *state = argument;
  tiebreak_write_number(sink, state->is_lost);
  tiebreak_write_number(sink, state->sum);
}

static void release(void *argument) {
  struct state *state = argument;
  /* A thread that does not end in time keeps the state. */
  if (state->input.task == TASK_PAIRS && !consumer_stop(&state->consumer, state->position)) return;
  free(state);
}

TIEBREAK_CONTESTANT_WITH("ring-buffer", "", 0u, 0u, 0u, 0u, prepare, reset, run, dump, release);

#endif
