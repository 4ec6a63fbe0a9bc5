/* The oracle: runs of bytes that may stand in the value of a header, each ended by one byte that
 * may not. The answer is how long each run is. The set stands here as comparisons. */
#include "tiebreak.h"
#include <string.h>

static int may_stand(uint8_t byte) { return byte == '\t' || (byte >= ' ' && byte != 127); }

/* Writes bytes, many at a time. */
typedef struct {
  const tiebreak_sink *sink;
  uint64_t used;
  uint8_t bytes[4096];
} writer;

static void flush(writer *to) {
  if (to->used) to->sink->write(to->sink->context, to->bytes, to->used);
  to->used = 0;
}

static void put(writer *to, uint8_t byte) {
  to->bytes[to->used++] = byte;
  if (to->used == sizeof to->bytes) flush(to);
}

/* A run of text: one byte in sixteen is not ASCII. */
static void put_run(writer *to, uint64_t count, uint64_t *state, uint8_t end) {
  uint64_t word = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (i % 8 == 0) word = tiebreak_random(state);
    put(to, (uint8_t)(word & 15 ? ' ' + (word >> 4 & 63) : 128 + (word >> 4 & 15)));
    word >>= 8;
  }
  put(to, end);
}

/* Every byte at the end of a run, or in it, after each number of others up to 130. */
static void put_places(writer *to) {
  for (int value = 0; value < 256; value++)
    for (int before = 0; before <= 130; before++) {
      for (int i = 0; i < before; i++) put(to, 'a');
      put(to, (uint8_t)value);
      put(to, '\r');
    }
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  writer to = {sink, 0, {0}};
  uint64_t state = request->seed, mean = 0;
  if (strcmp(request->distribution, "mean-8") == 0) mean = 8;
  if (strcmp(request->distribution, "mean-24") == 0) mean = 24;
  if (strcmp(request->distribution, "mean-60") == 0) mean = 60;
  if (mean) { /* from 1 to twice the mean less 1, each as often */
    for (uint64_t i = 0; i < request->size; i++) {
      uint64_t count = 1 + tiebreak_random(&state) % (2 * mean - 1);
      put_run(&to, count, &state, '\r');
    }
  } else if (strcmp(request->distribution, "long") == 0) {
    for (uint64_t i = 0; i < request->size; i++) put_run(&to, 32768, &state, '\r');
  } else if (strcmp(request->distribution, "places") == 0) {
    put_places(&to);
  } else {
    return 1;
  }
  flush(&to);
  return 0;
}

/* All inputs end with a byte that may not stand. */
static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  uint64_t count = 0;
  (void)request;
  for (uint64_t i = 0; i < input_bytes; i++) count += !may_stand(input[i]);
  return count;
}

/* A length for each run. */
static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  return 4 * items(request, input, input_bytes);
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  uint64_t start = 0;
  (void)request;
  *checksum = 0;
  for (uint64_t i = 0; i < input_bytes; i++) {
    if (may_stand(input[i])) continue;
    tiebreak_write_number(sink, i - start);
    *checksum += i;
    start = i + 1;
  }
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
