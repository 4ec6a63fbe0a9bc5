/* The oracle: numbers of 64 bits. The answer is each in decimal, a line a number; the output has
 * room for it and for what a contestant writes beyond a number. */
#include "tiebreak.h"
#include <math.h>
#include <string.h>

/* What a contestant may write beyond the last line. */
enum { SLACK_BYTES = 64 };

static uint64_t below(uint64_t *state, uint64_t count) { return tiebreak_random(state) % count; }

/* 100, 1000, ... 10^8, each as likely. */
static uint64_t power(uint64_t *state) {
  uint64_t number = 100;
  for (uint64_t left = below(state, 7); left--;) number *= 10;
  return number;
}

/* 2 to the power of anything from 0 to 64: as counts are. */
static uint64_t count(uint64_t *state) {
  double exponent = 64 * ((double)(tiebreak_random(state) >> 11) / 9007199254740992.0);
  return (uint64_t)exp2(exponent);
}

static uint64_t identity(uint64_t *state) { return below(state, 256 * 1024); }
static uint64_t small(uint64_t *state) { return below(state, 20); }
static uint64_t three(uint64_t *state) { return 100 + below(state, 100); }

/* A second within a million of one in 2014. */
static uint64_t time_of(uint64_t *state) { return 1398000000 + below(state, 2000001) - 1000000; }

/* Numbers round the powers of two and of ten, where lengths change. */
static uint64_t edge(uint64_t *state) {
  uint64_t number = 1;
  if (below(state, 2)) {
    number <<= below(state, 64);
  } else {
    for (uint64_t left = below(state, 20); left--;) number *= 10;
  }
  return number + below(state, 9) - 4;
}

/* 10^4 numbers of so many digits. */
static int generate_digits(const tiebreak_request *request, const tiebreak_sink *sink) {
  if (request->size < 1 || request->size > 19) return 1;
  uint64_t state = request->seed + request->part, ten = 1;
  for (uint64_t left = request->size; --left;) ten *= 10;
  uint64_t least = request->size == 1 ? 0 : ten;
  for (int i = 0; i < 10000; i++) {
    uint64_t number = least + below(&state, 10 * ten - least);
    sink->write(sink->context, &number, sizeof number);
  }
  return 0;
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  static const struct {
    const char *name;
    uint64_t (*draw)(uint64_t *state);
  } mixes[] = {
      {"powers", power}, {"counts", count}, {"identities", identity}, {"below-20", small},
      {"three", three},  {"times", time_of}, {"edges", edge},
  };
  if (strcmp(request->distribution, "digits") == 0) return generate_digits(request, sink);
  uint64_t state = request->seed + request->part;
  for (uint64_t mix = 0; mix < sizeof mixes / sizeof *mixes; mix++) {
    if (strcmp(request->distribution, mixes[mix].name) != 0) continue;
    for (uint64_t i = 0; i < request->size; i++) {
      uint64_t number = mixes[mix].draw(&state);
      sink->write(sink->context, &number, sizeof number);
    }
    return 0;
  }
  return 1;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input;
  return input_bytes / 8;
}

static uint64_t at(const uint8_t *input, uint64_t i) {
  uint64_t number;
  memcpy(&number, input + 8 * i, sizeof number);
  return number;
}

/* How many bytes all lines have. */
static uint64_t bytes_of(const uint8_t *input, uint64_t input_bytes) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < input_bytes / 8; i++) {
    uint64_t left = at(input, i);
    bytes += 2;
    while (left /= 10) bytes++;
  }
  return bytes;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  (void)request;
  return bytes_of(input, input_bytes) + SLACK_BYTES;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  for (uint64_t i = 0; i < input_bytes / 8; i++) tiebreak_write_number(sink, at(input, i));
  *checksum = bytes_of(input, input_bytes);
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
