/* The oracle of this study: heads, records, and what must have been counted. */
#include "task.h"
#include "tiebreak.h"

#include <string.h>

static const char *const names[] = {"alone", "in-work", "waiter", "wake", "turns", "chase"};

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  struct head head = {.size = request->size};
  while (strcmp(request->distribution, names[head.task]) != 0)
    if (++head.task == sizeof(names) / sizeof(names[0])) return 1;
  sink->write(sink->context, &head, sizeof(head));
  if (head.task != TASK_IN_WORK) return 0;
  uint64_t state = request->seed;
  for (uint64_t i = 0; i < request->size && i < RECORDS_MAX; i++) {
    struct record record;
    for (int word = 0; word < RECORD_WORDS; word++) record.words[word] = tiebreak_random(&state);
    sink->write(sink->context, &record, sizeof(record));
  }
  return 0;
}

/* One wake-up a run; else what is counted. */
static uint64_t counted(const uint8_t *input) {
  struct head head;
  memcpy(&head, input, sizeof(head));
  return head.task == TASK_WAITER || head.task == TASK_WAKE ? 1 : head.size;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input_bytes;
  return counted(input);
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  (void)request;
  const uint64_t records = (input_bytes - sizeof(struct head)) / sizeof(struct record);
  uint64_t sum = 0;
  for (uint64_t i = 0; records && i < counted(input); i++) {
    struct record record;
    memcpy(&record, input + sizeof(struct head) + i % records * sizeof(record), sizeof(record));
    sum += record_hash(&record);
  }
  *checksum = counted(input) ^ sum;
  tiebreak_write_number(sink, counted(input));
  tiebreak_write_number(sink, 0);
  tiebreak_write_number(sink, sum);
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
