/* The oracle: bytes, and whether each is a forbidden host code point (WHATWG URL), as the source
 * lists them. The set stands here as a list that is searched: no table, no bits. */
#include "tiebreak.h"
#include <string.h>

static const char forbidden[] = "\0\t\n\r #/:<>?@[\\]^|";

/* The zero that ends the text is the one that begins it, too. */
static int is_forbidden(uint8_t byte) { return memchr(forbidden, byte, sizeof forbidden) != 0; }

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

static void put_random(writer *to, uint64_t count, uint64_t seed) {
  uint64_t word = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (i % 8 == 0) word = tiebreak_random(&seed);
    put(to, (uint8_t)word);
    word >>= 8;
  }
}

/* Host names of 4 to 35 letters, digits, dots and hyphens, each after a slash. */
static void put_hosts(writer *to, uint64_t count, uint64_t seed) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzaeiou0123456789-.";
  uint64_t left = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word = tiebreak_random(&seed);
    if (left == 0) {
      left = 4 + word % 32;
      put(to, '/');
    } else {
      left--;
      put(to, (uint8_t)letters[word % (sizeof letters - 1)]);
    }
  }
}

/* Every value in every place of a block of 64 bytes, among bytes that are not forbidden and among
 * bytes that are. */
static void put_lanes(writer *to) {
  for (int filler = 0; filler < 2; filler++)
    for (int lane = 0; lane < 64; lane++)
      for (int value = 0; value < 256; value++)
        for (int place = 0; place < 64; place++)
          put(to, (uint8_t)(place == lane ? value : filler ? '|' : 'a'));
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  writer to = {sink, 0, {0}};
  if (strcmp(request->distribution, "random") == 0)
    put_random(&to, request->size, request->seed);
  else if (strcmp(request->distribution, "hosts") == 0)
    put_hosts(&to, request->size, request->seed);
  else if (strcmp(request->distribution, "lanes") == 0)
    put_lanes(&to);
  else if (strcmp(request->distribution, "lengths") == 0) /* part n has n bytes */
    put_random(&to, request->part, request->part);
  else
    return 1;
  flush(&to);
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input;
  return input_bytes;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  writer to = {sink, 0, {0}};
  (void)request;
  *checksum = 0;
  for (uint64_t i = 0; i < input_bytes; i++) {
    int yes = is_forbidden(input[i]);
    *checksum += (uint64_t)yes;
    put(&to, yes ? '1' : '0');
    put(&to, '\n');
  }
  flush(&to);
  return 0;
}

/* A byte of output for each byte of input; some contestants of contract batch use a bit each. */
TIEBREAK_ORACLE(generate, items, items, answer);
