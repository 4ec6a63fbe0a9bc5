/* The simulation as described: a ball at a time, until a bin is full. */
#include "frame.h"

typedef struct room {
  uint32_t counts[BINS_MAX];
} room;

TIEBREAK_KERNEL uint64_t trial(room *room, const game *game, uint64_t *stream) {
  uint32_t *counts = room->counts;
  uint64_t bins = game->bins, capacity = game->capacity;
  memset(counts, 0, bins * sizeof *counts);
  for (uint64_t balls = 0;; balls += 2) {
    uint64_t word = tiebreak_random(stream);
    if (++counts[bin_of((uint32_t)word, bins)] == capacity) return balls + 1;
    if (++counts[bin_of(word >> 32, bins)] == capacity) return balls + 2;
  }
}

FRAME("direct", "");
