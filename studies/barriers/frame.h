/* What all contestants share: the company in which a barrier is timed, and the proof that it is
 * one. A contestant defines, before it includes this file:
 *
 *   static int heavy_prepare(void);   1 if the barrier works here
 *   static int heavy(void);           the heavy side, which is timed; 0 if it failed
 *   static inline void light(void);   the light side, for the litmus test
 */
#ifndef BARRIERS_FRAME_H
#define BARRIERS_FRAME_H

#include "load.h"
#include "litmus.h"
#include "tiebreak.h"
#include <stdio.h>

/* A barrier with a sibling has its proof by then, or there is none to be had. */
#define PROOF_NS 10000000000u
/* A sibling that went on has counted further than it does between two looks. */
#define WENT_ON 10000u
/* Before the clock starts the sibling gets so long to be on its CPU. */
#define READY_NS 100000000u

/* A barrier that takes longer than this waits for the kernel's clock to tick. It begins at a random
 * moment of the next 10 ms: right after the barrier before it would be right after a tick. */
#define SLOW_NS 500000u
#define PHASE_NS 10000000u

struct state {
  struct load load;
  int is_slow;             /* the first barrier was */
  uint64_t random;
  struct sibling *sibling; /* null if the workload has none */
  uint64_t turns;          /* of the litmus test; 0 of the others */
  char answer[160];
};

static void release(void *context) {
  struct state *state = context;
  load_end(&state->load);
  if (state->sibling) sibling_end(state->sibling);
  free(state);
}

/* The input is a word and a number: "idle", "loaded", "sibling", "sibling-loaded" or "litmus". */
static void *prepare(const tiebreak_workload *workload) {
  char text[64] = {0}, name[32] = {0};
  unsigned long long size = 0;
  if (workload->input_bytes >= sizeof text) return 0;
  memcpy(text, workload->input, workload->input_bytes);
  if (sscanf(text, "%31s %llu", name, &size) != 2 || !heavy_prepare()) return 0;
  struct state *state = calloc(1, sizeof *state);
  if (!state) return 0;
  int is_litmus = !strcmp(name, "litmus");
  int is_beside = !strncmp(name, "sibling", 7), is_loaded = strstr(name, "loaded") != 0;
  if (is_litmus) state->turns = size;
  if (is_litmus || is_beside) state->sibling = sibling_begin();
  int has_company = is_litmus || !is_beside || state->sibling;
  if (is_loaded) has_company &= load_begin(&state->load);
  if (!has_company) {
    release(state);
    return 0;
  }
  uint64_t begin = now_ns();
  heavy();
  state->is_slow = now_ns() - begin > SLOW_NS;
  state->random = begin;
  return state;
}

/* Not timed: the sibling comes to its CPU, and a slow barrier to a random moment. It sleeps until
 * then, as the barrier itself does: a reset with more time on a CPU than its run makes a contestant
 * void. */
static void reset(void *context) {
  struct state *state = context;
  if (state->turns) return;
  if (state->sibling) sibling_set(state->sibling, SPINS);
  if (state->is_slow) {
    struct timespec phase = {0, (long)(tiebreak_random(&state->random) % PHASE_NS)};
    nanosleep(&phase, 0);
  }
  if (state->sibling) sibling_moves(state->sibling, READY_NS);
}

/* One barrier while the sibling runs: it was seen to right before it, and right after it or, as a
 * slow one outlasts a time slice, to have gone on meanwhile. Barriers without that proof are part
 * of the time, so it is never too short. */
static uint64_t beside_sibling(struct state *state) {
  struct sibling *sibling = state->sibling;
  uint64_t begin = now_ns(), is_proven = 0;
  while (!is_proven && now_ns() - begin < PROOF_NS) {
    if (!sibling_moves(sibling, NEAR_NS)) continue;
    uint64_t was = atomic_load_explicit(&sibling->count, memory_order_relaxed);
    if (!heavy()) break;
    int went_on = atomic_load_explicit(&sibling->count, memory_order_relaxed) - was > WENT_ON;
    is_proven = state->is_slow ? went_on : sibling_moves(sibling, NEAR_NS);
  }
  sibling_set(sibling, ASLEEP);
  return is_proven;
}

static uint64_t no_forbidden_outcome(struct state *state) {
  char *answer = state->answer;
  /* One CPU runs one thread at a time, and a change of threads is a barrier. */
  if (!state->sibling) {
    snprintf(answer, sizeof state->answer, "forbidden outcomes: 0\n");
    return 1;
  }
  struct litmus enough = {~0ull, CONTROL_ENOUGH}, all = {state->turns, ~0ull};
  struct litmus control = litmus(state->sibling, CONTROL, enough, CONTROL_NS);
  struct litmus seen = litmus(state->sibling, LIGHT, all, LITMUS_NS);
  const char *proof = "";
  if (seen.turns < LITMUS_FEWEST) proof = "the test ended too early: nothing is proven\n";
  if (control.forbidden < CONTROL_ENOUGH)
    proof = "the control without barriers shows too few of them: nothing is proven\n";
  snprintf(answer, sizeof state->answer, "forbidden outcomes: %llu\n%s",
           (unsigned long long)seen.forbidden, proof);
  return !seen.forbidden && !*proof;
}

static uint64_t run(void *context) {
  struct state *state = context;
  if (state->turns) return no_forbidden_outcome(state);
  if (state->sibling) return beside_sibling(state);
  return (uint64_t)heavy();
}

static void dump(void *context, const tiebreak_sink *sink) {
  struct state *state = context;
  const char *answer = state->turns ? state->answer : "barriers: 1\n";
  sink->write(sink->context, answer, strlen(answer));
}

TIEBREAK_CONTESTANT_WITH("barrier", "", 0u, 0u, 0u, 0u, prepare, reset, run, dump, release);

#endif
