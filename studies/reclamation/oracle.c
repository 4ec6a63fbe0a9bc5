/* The oracle. An input is three words: the key that every whole object gives, what is done with it
 * (pin, protect, retire, read-write), and how often. The answer is the sum of what was read, and
 * that the objects which were there at once were bounded. */
#include "tiebreak.h"
#include <string.h>

static const char *const kinds[] = {"pin", "protect", "retire", "read-write"};

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t state = request->seed;
  for (uint64_t kind = 0; kind < 4; kind++) {
    if (strcmp(request->distribution, kinds[kind]) != 0) continue;
    uint64_t words[3] = {tiebreak_random(&state), kind, request->size};
    /* Every size from 1 on where it comes in parts. */
    if (request->parts > 1) words[2] = request->part + 1;
    sink->write(sink->context, words, sizeof words);
    return 0;
  }
  return 1;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request;
  uint64_t words[3] = {0};
  if (input_bytes >= sizeof words) memcpy(words, input, sizeof words);
  return words[2];
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  uint64_t words[3];
  if (input_bytes < sizeof words) return 1;
  memcpy(words, input, sizeof words);
  *checksum = words[0] * words[2];
  tiebreak_write_number(sink, *checksum);
  sink->write(sink->context, "bounded\n", 8);
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
