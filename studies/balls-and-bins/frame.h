/* What every C contestant of this study shares: the input, the stream, the loop over trials, and
 * the answer. With -DSIMULATOR the same source is a program that prints fill rates.
 *
 * A trial begins with a word of its own: the other half of a word whose ball ended a trial is
 * dropped, so that each trial is a function of the bins, the capacity and one place of the
 * stream. */
#ifndef FRAME_H
#define FRAME_H

#include "tiebreak.h"
#include <string.h>

enum { BINS_MAX = 1024, CAPACITY_MAX = 1 << 17 };

/* The input. */
typedef struct game {
  uint64_t bins, capacity, trials, seed;
} game;

/* The bin of a ball, from half a word. */
static inline uint32_t bin_of(uint32_t half, uint64_t bins) {
  return (uint32_t)(half * bins >> 32);
}

#ifndef SIMULATOR

/* Exports `uint64_t trial(room *room, const game *game, uint64_t *stream)`, which gives how many
 * balls lie in the bins when the first of them is full. `room` is the contestant's own type. */
#define FRAME(name, needs) \
  typedef struct state { \
    room room; \
    tiebreak_workload workload; \
  } state; \
  static void *prepare(const tiebreak_workload *workload) { \
    state *state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64); \
    if (state) state->workload = *workload; \
    return state; \
  } \
  static uint64_t run(void *bare) { \
    state *state = bare; \
    uint64_t *balls = (uint64_t *)(void *)state->workload.output, checksum = 0; \
    game game; \
    memcpy(&game, state->workload.input, sizeof game); \
    for (uint64_t i = 0; i < game.trials; i++) { \
      balls[i] = trial(&state->room, &game, &game.seed); \
      checksum = checksum * 31 + balls[i]; \
    } \
    return checksum; \
  } \
  static void dump(void *bare, const tiebreak_sink *sink) { \
    const state *state = bare; \
    const uint64_t *balls = (const uint64_t *)(const void *)state->workload.output; \
    for (uint64_t i = 0; i < state->workload.items; i++) tiebreak_write_number(sink, balls[i]); \
  } \
  TIEBREAK_CONTESTANT_WITH(name, needs, 0u, 0u, 0u, 0u, prepare, 0, run, dump, free)

#else

#include <stdio.h>
#include <sys/random.h>

/* A whole number from 1 to `most`, or a message and status 64. */
static uint64_t frame_number(const char *what, const char *word, uint64_t most) {
  char *end;
  unsigned long long number = strtoull(word, &end, 10);
  if (*word < '0' || *word > '9' || *end || number < 1 || number > most) {
    fprintf(stderr, "%s is '%s', and must be a whole number from 1 to %llu\n", what, word,
            (unsigned long long)most);
    exit(64);
  }
  return number;
}

static int frame_main(const char *name, int count, char **words, void *room,
                      uint64_t (*trial)(void *room, const game *game, uint64_t *stream)) {
  if (count < 5 || count > 6) {
    fprintf(stderr,
            "usage: %s BINS CAPACITY TRIALS SEED [LEAST]\n"
            "Prints the fill rate of each trial, from a stream that SEED begins (- for one from "
            "the system).\nWith LEAST prints nothing, and ends with status 0 if all reach it, "
            "with 1 if not.\n",
            name);
    return 64;
  }
  game game = {.bins = frame_number("BINS", words[1], BINS_MAX),
               .capacity = frame_number("CAPACITY", words[2], CAPACITY_MAX),
               .trials = frame_number("TRIALS", words[3], UINT64_MAX / 2)};
  if (strcmp(words[4], "-") != 0) {
    game.seed = frame_number("SEED", words[4], UINT64_MAX / 2);
    game.seed = tiebreak_random(&game.seed); /* neighbours are far apart in the stream */
  } else if (getrandom(&game.seed, sizeof game.seed, 0) != sizeof game.seed) {
    perror("a seed from the system");
    return 70;
  }
  double least = 0, space = (double)(game.bins * game.capacity);
  if (count == 6) {
    char *end;
    least = strtod(words[5], &end);
    if (*end || !(least > 0 && least <= 1)) {
      fprintf(stderr, "LEAST is '%s', and must be above 0 and at most 1\n", words[5]);
      return 64;
    }
  }
  for (uint64_t i = 0; i < game.trials; i++) {
    double fill = (double)trial(room, &game, &game.seed) / space;
    if (count == 5) printf("%.9f\n", fill);
    else if (fill < least) return 1;
  }
  return 0;
}

#define FRAME(name, needs) \
  static uint64_t frame_trial(void *bare, const game *game, uint64_t *stream) { \
    return trial(bare, game, stream); \
  } \
  int main(int count, char **words) { \
    static room room; \
    return frame_main(name, count, words, &room, frame_trial); \
  } \
  typedef int frame_end

#endif

#endif
