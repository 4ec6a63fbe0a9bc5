/* The oracle: an array of random bytes. The answer says, twice for each block of 4096 bytes, that
 * none is wrong: see frame.h. */
#include "tiebreak.h"
#include <string.h>

#define BLOCK 4096u

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  if (strcmp(request->distribution, "random") != 0) return 1;
  /* Every length from 0 on where it comes in parts. */
  uint64_t count = request->parts > 1 ? request->part : request->size;
  uint64_t state = request->seed;
  uint8_t bytes[BLOCK];
  for (uint64_t done = 0; done < count; done += BLOCK) {
    for (unsigned i = 0; i < BLOCK; i += 8) {
      uint64_t word = tiebreak_random(&state);
      memcpy(bytes + i, &word, 8);
    }
    uint64_t left = count - done;
    sink->write(sink->context, bytes, left < BLOCK ? left : BLOCK);
  }
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input;
  return input_bytes;
}

static uint64_t output_bytes(const tiebreak_request *request, const uint8_t *input,
                             uint64_t input_bytes) {
  (void)request, (void)input;
  return input_bytes;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  for (int look = 0; look < 2; look++)
    for (uint64_t i = 0; i < input_bytes; i += BLOCK) sink->write(sink->context, "0\n", 2);
  *checksum = input_bytes + (input_bytes ? input[0] : 0);
  return 0;
}

TIEBREAK_ORACLE(generate, items, output_bytes, answer);
