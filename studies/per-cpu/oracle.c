/* The oracle: the first byte says whether there is work between the additions, and each further one
 * is where an amount comes from. A run adds all amounts; the answer is their sum. How an amount is
 * made stands in counters/src/amounts.rs and rseq.c too. */
#include "tiebreak.h"
#include <string.h>

#define BLOCK 4096u

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint8_t has_work = strcmp(request->distribution, "amid-work") == 0;
  if (!has_work && strcmp(request->distribution, "in-a-row") != 0) return 1;
  sink->write(sink->context, &has_work, 1);
  /* Every number from 0 on where it comes in parts. */
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
  return input_bytes - 1;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  uint64_t sum = 0, hash = 0;
  for (uint64_t i = 1; i < input_bytes; i++) {
    uint64_t amount = input[i];
    if (input[0]) {
      hash ^= amount;
      for (int turn = 0; turn < 5; turn++) hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
      amount = hash >> 56;
    }
    sum += amount;
  }
  tiebreak_write_number(sink, sum);
  *checksum = sum;
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
