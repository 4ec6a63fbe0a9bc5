// Contract batch: the chain of comparisons, in a loop that the compiler sees whole and can do for
// many bytes at once.
#include "frame.h"

static inline bool is_forbidden(uint8_t c) {
  return (c == '\0') | (c == '\t') | (c == '\n') | (c == '\r') | (c == ' ') | (c == '#') |
         (c == '/') | (c == ':') | (c == '<') | (c == '>') | (c == '?') | (c == '@') | (c == '[') |
         (c == '\\') | (c == ']') | (c == '^') | (c == '|');
}

static uint64_t classify(const uint8_t *input, uint64_t bytes, uint8_t *__restrict output) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < bytes; i++) output[i] = is_forbidden(input[i]);
  for (uint64_t i = 0; i < bytes; i++) count += output[i];
  return count;
}

BATCH_CONTESTANT("chain, batch", "", classify, frame_byte);
