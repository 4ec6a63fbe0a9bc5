/* The oracle: the balls of each trial, by the stream that the input begins.
 *
 * Of the direct contestants each ball goes where half a word says. Of the exact one the answer is
 * what inversion gives of Poisson's law as it is defined, in long double: contestants get there by
 * other sums, and would differ if one of them were wrong by more than some 1e-12. */
#include "frame.h"
#include <math.h>

static int is(const char *word, const char *other) { return strcmp(word, other) == 0; }

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t state = request->seed + request->part;
  game game = {.capacity = request->size, .trials = 1, .seed = tiebreak_random(&state)};
  if (is(request->distribution, "bins-5")) game.bins = 5;
  else if (is(request->distribution, "bins-100")) game.bins = 100;
  else if (is(request->distribution, "bins-1000")) game.bins = 1000;
  else if (is(request->distribution, "square")) {
    /* Each number of bins and each capacity up to `size`. */
    game.bins = request->part / request->size % request->size + 1;
    game.capacity = request->part % request->size + 1;
    game.trials = 20;
  } else if (is(request->distribution, "any")) {
    game.bins = tiebreak_random(&state) % BINS_MAX + 1;
    game.capacity = tiebreak_random(&state) % request->size + 1;
  } else return 1;
  if (game.capacity < 1 || game.capacity > CAPACITY_MAX || game.bins > BINS_MAX) return 1;
  if (strncmp(request->distribution, "bins-", 5) == 0) {
    game.trials = 1000000 / (game.bins * game.capacity);
    if (game.trials < 1) game.trials = 1;
  }
  sink->write(sink->context, &game, sizeof game);
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  game game = {0};
  (void)request;
  if (input_bytes == sizeof game) memcpy(&game, input, sizeof game);
  return game.trials;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  return items(request, input, input_bytes) * sizeof(uint64_t);
}

static uint64_t thrown(const game *game, uint64_t *stream) {
  uint64_t counts[BINS_MAX] = {0}, word = 0;
  for (uint64_t ball = 0;; ball++) {
    if (ball % 2 == 0) word = tiebreak_random(stream);
    uint32_t half = (uint32_t)(ball % 2 == 0 ? word : word >> 32);
    if (++counts[bin_of(half, game->bins)] == game->capacity) return ball + 1;
  }
}

static long double uniform(uint64_t *stream) {
  return ((long double)(tiebreak_random(stream) >> 11) + 0.5L) * 0x1p-53L;
}

/* P(N = j) where N has Poisson's law with mean t. */
static long double poisson(uint64_t j, long double t) {
  return expl((long double)j * logl(t) - t - lgammal((long double)j + 1));
}

/* P(N >= k), for t below k: each weight is less than the one before. */
static long double full(uint64_t k, long double t) {
  long double weight = poisson(k, t), sum = 0;
  for (uint64_t j = k; weight > 1e-22L * sum; weight *= t / (long double)++j) sum += weight;
  return sum;
}

static uint64_t drawn(const game *game, uint64_t *stream) {
  uint64_t k = game->capacity, balls = k;
  long double wanted = -expm1l(logl(uniform(stream)) / (long double)game->bins);
  long double low = 0, high = (long double)(2 * k + 100);
  for (int i = 0; i < 100; i++) {
    long double middle = (low + high) / 2;
    if (full(k, middle) < wanted) low = middle;
    else high = middle;
  }
  /* at_least[j]: P(N >= j and N < k), down to where nothing is left. */
  static _Thread_local long double at_least[CAPACITY_MAX + 1];
  uint64_t least = k;
  long double weight = poisson(k - 1, low);
  at_least[k] = 0;
  while (least > 0 && (least == k || weight > 1e-22L * at_least[least])) {
    at_least[least - 1] = at_least[least] + weight;
    least--;
    weight *= (long double)least / low;
  }
  for (uint64_t other = 1; other < game->bins; other++) {
    long double share = uniform(stream) * at_least[least];
    uint64_t above = k, count = least; /* at_least[count] >= share > at_least[above] */
    while (above - count > 1) {
      uint64_t middle = (above + count) / 2;
      if (at_least[middle] >= share) count = middle;
      else above = middle;
    }
    balls += count;
  }
  return balls;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  game game;
  if (input_bytes != sizeof game) return 1;
  memcpy(&game, input, sizeof game);
  int is_drawn = is(request->contract, "same-law");
  *checksum = 0;
  for (uint64_t i = 0; i < game.trials; i++) {
    uint64_t balls = is_drawn ? drawn(&game, &game.seed) : thrown(&game, &game.seed);
    *checksum = *checksum * 31 + balls;
    tiebreak_write_number(sink, balls);
  }
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
