/* What is timed: contestants/src/race.rs in C. Before this header is included there are
 *
 *   struct event                 what counts
 *   EVENT_MASK                   the value's bits: it wraps where they end
 *   event_init, event_value      of it
 *   event_increment              adds one, and wakes who waits
 *   event_wait                   returns once the value is another
 */
#ifndef RACE_H
#define RACE_H

#include "task.h"
#include "tiebreak.h"
#include "waiter.h"

#define SLOTS 64
/* The checksum where something was lost. */
#define LOST UINT64_MAX

struct state {
  struct waiter waiter;
  _Alignas(128) struct event event;
  _Alignas(128) uint64_t hashes[SLOTS]; /* where hashes go, as items would go into a ring */
  struct record *records;
  struct record *records_end;
  uint64_t size;
  uint64_t count;   /* what the count must be */
  uint64_t counted; /* by the last run */
  uint64_t sum;     /* what came of its work */
  uint8_t task;
  bool has_waiter;
  bool is_lost; /* the count was another, or the thread has not seen it in time */
};

/* Looks at the count, and waits until the waiting thread has seen it and sleeps. */
static void settle(struct state *state) {
  const bool is_settled = !state->has_waiter || waiter_settle(&state->waiter, state->count);
  if (!is_settled || event_value(&state->event) != state->count) state->is_lost = true;
}

static void *prepare(const tiebreak_workload *workload) {
  struct state *state = aligned_alloc(_Alignof(struct state), sizeof(struct state));
  if (!state) return NULL;
  memset(state, 0, sizeof(*state));
  struct head head;
  memcpy(&head, workload->input, sizeof(head));
  const uint64_t bytes = workload->input_bytes - sizeof(head);
  state->task = head.task;
  state->size = head.size;
  state->records = malloc(bytes + 1);
  if (!state->records) return NULL;
  memcpy(state->records, workload->input + sizeof(head), bytes);
  state->records_end = state->records + bytes / sizeof(struct record);
  event_init(&state->event);
  state->has_waiter = head.task != TASK_ALONE && head.task != TASK_IN_WORK;
  if (state->has_waiter && !waiter_start(&state->waiter, &state->event)) return NULL;
  return state;
}

static void reset(void *argument) { settle(argument); }

static void expect(struct state *state, uint64_t counted) {
  state->count = (state->count + counted) & EVENT_MASK;
  state->counted = counted;
}

static void wait_until_seen(struct state *state) {
  if (!waiter_wait_until_seen(&state->waiter, state->count)) state->is_lost = true;
}

static TIEBREAK_SEPARATE void increments(struct state *state, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    struct event *event = (struct event *)tiebreak_launder(&state->event);
    event_increment(event);
  }
  expect(state, count);
}

static TIEBREAK_SEPARATE void in_work(struct state *state) {
  uint64_t sum = 0;
  const struct record *record = state->records;
  for (uint64_t i = 0; i < state->size; i++) {
    const uint64_t hash = record_hash(record);
    if (++record == state->records_end) record = state->records;
    state->hashes[i % SLOTS] = hash;
    sum += hash;
    struct event *event = (struct event *)tiebreak_launder(&state->event);
    event_increment(event);
  }
  state->sum = sum;
  expect(state, state->size);
}

static void turns(struct state *state) {
  for (uint64_t i = 0; i < state->size && !state->is_lost; i++) {
    settle(state);
    increments(state, 1);
    wait_until_seen(state);
  }
  state->counted = state->size;
}

static uint64_t run(void *argument) {
  struct state *state = argument;
  switch (state->task) {
  case TASK_IN_WORK: in_work(state); break;
  case TASK_WAITER: increments(state, 1); break;
  case TASK_WAKE:
    increments(state, 1);
    wait_until_seen(state);
    break;
  case TASK_TURNS: turns(state); break;
  default: increments(state, state->size);
  }
  return state->is_lost ? LOST : state->counted ^ state->sum;
}

static void dump(void *argument, const tiebreak_sink *sink) {
  struct state *state = argument;
  settle(state);
  tiebreak_write_number(sink, state->counted);
  tiebreak_write_number(sink, state->is_lost);
  tiebreak_write_number(sink, state->sum);
}

static void release(void *argument) {
  struct state *state = argument;
  if (state->has_waiter) {
    atomic_store_explicit(&state->waiter.ends, true, memory_order_release);
    event_increment(&state->event);
    /* A thread that does not end in time keeps the state. */
    if (!until(has_ended, &state->waiter, 0)) return;
    pthread_join(state->waiter.thread, NULL);
    close(state->waiter.status);
  }
  free(state->records);
  free(state);
}

TIEBREAK_CONTESTANT_WITH("event-count", "", 0u, 0u, 0u, 0u, prepare, reset, run, dump, release);

#endif
