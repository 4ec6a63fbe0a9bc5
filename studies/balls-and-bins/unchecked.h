/* Ours: the same balls, nearly all of them thrown without a look at the bin.
 *
 * Where the fullest bin has m balls, no bin fills within the next capacity - m - 1. So they are
 * thrown, the fullest bin is looked for, and so on; the gap closes by a factor of e with every
 * `bins` such steps. Only below GAP are balls watched one by one. `throw_words` throws two balls
 * for each word of the stream. */
#ifndef UNCHECKED_H
#define UNCHECKED_H

#include "frame.h"

enum { GAP = 64 };

typedef struct room {
  _Alignas(64) uint32_t counts[BINS_MAX];
  _Alignas(64) uint64_t drawn[2][16]; /* pairs of bins */
} room;

static void throw_words(room *room, uint64_t bins, uint64_t *stream, uint64_t words);

static inline void throw_one_by_one(uint32_t *counts, uint64_t bins, uint64_t *stream,
                                    uint64_t words) {
  while (words--) {
    uint64_t word = tiebreak_random(stream);
    counts[bin_of((uint32_t)word, bins)]++;
    counts[bin_of(word >> 32, bins)]++;
  }
}

TIEBREAK_KERNEL uint64_t trial(room *room, const game *game, uint64_t *stream) {
  uint32_t *counts = room->counts;
  uint64_t bins = game->bins, capacity = game->capacity, balls = 0, gap = capacity;
  memset(counts, 0, bins * sizeof *counts);
  while (gap > GAP) {
    uint64_t words = (gap - 1) / 2;
    throw_words(room, bins, stream, words);
    balls += 2 * words;
    uint32_t fullest = 0;
    for (uint64_t i = 0; i < bins; i++) fullest = counts[i] > fullest ? counts[i] : fullest;
    gap = capacity - fullest;
  }
  for (;; balls += 2) {
    uint64_t word = tiebreak_random(stream);
    if (++counts[bin_of((uint32_t)word, bins)] == capacity) return balls + 1;
    if (++counts[bin_of(word >> 32, bins)] == capacity) return balls + 2;
  }
}

#endif
