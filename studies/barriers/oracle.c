/* The input is the name of the workload and its size; the answer is that a barrier is one. */
#include "tiebreak.h"
#include <stdio.h>
#include <string.h>

static int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  char text[64];
  int length = snprintf(text, sizeof text, "%s %llu", request->distribution,
                        (unsigned long long)request->size);
  if (length < 0 || length >= (int)sizeof text) return 1;
  sink->write(sink->context, text, (uint64_t)length);
  return 0;
}

static uint64_t items(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes) {
  (void)request, (void)input, (void)input_bytes;
  return 1;
}

static int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
                  const tiebreak_sink *sink, uint64_t *checksum) {
  int is_litmus = !strcmp(request->distribution, "litmus");
  const char *text = is_litmus ? "forbidden outcomes: 0\n" : "barriers: 1\n";
  (void)input, (void)input_bytes;
  sink->write(sink->context, text, strlen(text));
  *checksum = 1;
  return 0;
}

TIEBREAK_ORACLE(generate, items, 0, answer);
