/* The oracle: a window, whether its hashes are counted or written, the hash that is counted, and a
 * text. The answer is all hashes, or the count; each hash is made from its window's start, in 64
 * bits. */
#include "tiebreak.h"
#include <string.h>

enum { BASE = 31, HEADER = 16 };

static uint32_t hash_of(const uint8_t *bytes, uint32_t window) {
  int64_t hash = 0;
  for (uint32_t i = 0; i < window; i++) {
    int byte = bytes[i] < 128 ? bytes[i] : bytes[i] - 256;
    hash = (hash * BASE + byte) & 0xffffffff;
  }
  return (uint32_t)hash;
}

static void header(const tiebreak_sink *sink, uint32_t window, uint32_t counts, uint32_t target) {
  uint32_t words[4] = {window, counts, target, 0};
  sink->write(sink->context, words, sizeof words);
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  const char *kind = request->distribution;
  uint32_t window = strcmp(kind, "windows-of-16") == 0   ? 16
                    : strcmp(kind, "windows-of-32") == 0 ? 32
                                                         : 8;
  uint64_t bytes = request->parts > 1 ? window + request->part : request->size;
  uint64_t state = request->seed + request->part;
  if (strcmp(kind, "published") == 0) {
    header(sink, window, 1, 0);
    for (uint64_t i = 0; i < bytes; i++) {
      uint8_t byte = (uint8_t)i;
      sink->write(sink->context, &byte, 1);
    }
  } else if (strcmp(kind, "hits") == 0) {
    /* Two letters: each window of eight is one of 256. */
    header(sink, window, 1, hash_of((const uint8_t *)"abbabaab", 8));
    for (uint64_t i = 0; i < bytes; i++) {
      uint8_t byte = tiebreak_random(&state) >> 63 ? 'a' : 'b';
      sink->write(sink->context, &byte, 1);
    }
  } else if (strncmp(kind, "windows-of-", 11) == 0) {
    header(sink, window, 0, 0);
    for (uint64_t i = 0; i < bytes; i++) {
      uint8_t byte = tiebreak_random_byte(&state);
      sink->write(sink->context, &byte, 1);
    }
  } else {
    return 1;
  }
  return 0;
}

static uint32_t word(const uint8_t *input, int at) {
  uint32_t value;
  memcpy(&value, input + 4 * at, sizeof value);
  return value;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request;
  return input_bytes - HEADER - word(input, 0) + 1;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  return word(input, 1) ? 8 : 4 * items(request, input, input_bytes);
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  uint32_t window = word(input, 0), counts = word(input, 1), target = word(input, 2), hash = 0;
  uint64_t windows = items(request, input, input_bytes), found = 0;
  for (uint64_t i = 0; i < windows; i++) {
    hash = hash_of(input + HEADER + i, window);
    if (counts) found += hash == target;
    else tiebreak_write_number(sink, hash);
  }
  if (counts) tiebreak_write_number(sink, found);
  *checksum = counts ? found : hash;
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
