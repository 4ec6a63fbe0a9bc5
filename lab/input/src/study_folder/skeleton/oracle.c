/* Makes the inputs and knows the answers: written for clarity, never timed. */
#include "tiebreak.h"
#include <string.h>

/* `random`: `size` random bytes. `lengths`: in part p, p + 1 random bytes. */
static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  int is_lengths = strcmp(request->distribution, "lengths") == 0;
  if (!is_lengths && strcmp(request->distribution, "random") != 0) return 1;
  uint64_t count = is_lengths ? request->part + 1 : request->size, seed = request->seed;
  for (uint64_t i = 0; i < count; i++) {
    uint8_t byte = (uint8_t)(tiebreak_random(&seed) >> 56);
    sink->write(sink->context, &byte, 1);
  }
  return 0;
}

static uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += bytes[i];
  return sum;
}

TIEBREAK_NUMBER_ORACLE(generate, sum);
