/* Makes the inputs and knows the answers: written for clarity, never timed. */
#include "tiebreak.h"

#include <stdio.h>
#include <string.h>

/* `random`: `size` random bytes. `lengths`: in part p, p + 1 random bytes. */
static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t count = request->size;
  uint64_t seed = request->seed;
  if (strcmp(request->distribution, "lengths") == 0) {
    count = request->part + 1;
  } else if (strcmp(request->distribution, "random") != 0) {
    return 1;
  }
  for (uint64_t i = 0; i < count; i++) {
    uint8_t byte = (uint8_t)(tiebreak_random(&seed) >> 56);
    sink->write(sink->context, &byte, 1);
  }
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request;
  (void)input;
  return input_bytes;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < input_bytes; i++) {
    sum += input[i];
  }
  char line[32];
  int length = snprintf(line, sizeof line, "%llu\n", (unsigned long long)sum);
  sink->write(sink->context, line, (uint64_t)length);
  *checksum = sum;
  return 0;
}

TIEBREAK_ORACLE(generate, items, NULL, answer);
