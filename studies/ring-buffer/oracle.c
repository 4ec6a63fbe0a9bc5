/* The oracle of this study: where the items begin, and their sum. */
#include "task.h"
#include "tiebreak.h"

#include <string.h>

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t state = request->seed;
  struct input input = {.size = request->size};
  input.first = tiebreak_random(&state);
  input.step = tiebreak_random(&state);
  if (strcmp(request->distribution, "pairs") == 0)
    input.task = TASK_PAIRS;
  else if (strcmp(request->distribution, "push") != 0)
    return 1;
  sink->write(sink->context, &input, sizeof(input));
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *bytes, uint64_t count) {
  (void)request, (void)count;
  struct input input;
  memcpy(&input, bytes, sizeof(input));
  return input.size;
}

static int answer(const tiebreak_request *request, const uint8_t *bytes, uint64_t count,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request, (void)count;
  struct input input;
  memcpy(&input, bytes, sizeof(input));
  const int keeps_all = input.task == TASK_PAIRS || input.size < SLOTS;
  struct sum sum = {0, 0};
  for (uint64_t i = keeps_all ? 0 : input.size - SLOTS; i < input.size; i++)
    sum_add(&sum, input.first + i * input.step);
  *checksum = sum.sums;
  tiebreak_write_number(sink, 0);
  tiebreak_write_number(sink, sum.sums);
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
