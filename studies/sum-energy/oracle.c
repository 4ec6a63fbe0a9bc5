/* The oracle: floats that are integers, whose sum is therefore exact in any order, and rounded once
 * at the end, to a float. It adds them up as integers. */
#include "tiebreak.h"
#include <string.h>

enum { BLOCK = 4096 };

static uint64_t count_of(const tiebreak_request *request) {
  /* Every length from 0 on where it comes in parts. */
  return request->parts > 1 ? request->part : request->size;
}

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  int is_ones = strcmp(request->distribution, "ones") == 0;
  if (!is_ones && strcmp(request->distribution, "integers") != 0) return 1;
  float block[BLOCK];
  uint64_t state = request->seed, left = count_of(request);
  while (left > 0) {
    uint64_t many = left < BLOCK ? left : BLOCK;
    for (uint64_t i = 0; i < many; i++)
      block[i] = is_ones ? 1.0f : (float)((int)(tiebreak_random(&state) >> 56) - 128);
    sink->write(sink->context, block, many * sizeof(float));
    left -= many;
  }
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input;
  return input_bytes / sizeof(float);
}

static int64_t add(const uint8_t *input, uint64_t from, uint64_t to) {
  int64_t total = 0;
  for (uint64_t i = from; i < to; i++) {
    float value;
    memcpy(&value, input + i * sizeof value, sizeof value);
    total += (int64_t)value;
  }
  return total;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  uint64_t count = input_bytes / sizeof(float);
  int64_t total = add(input, 0, count);
  /* What lies past the end is zeros in the laboratory. */
  if (strcmp(request->contract, "past-the-end") == 0) total += add(input, count / 16 * 16, count);
  float rounded = (float)total;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  *checksum = bits;
  tiebreak_write_number(sink, bits);
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
