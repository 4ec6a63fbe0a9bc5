// An input of this study: what the oracle writes and the contestants in C and C++ read.
#ifndef NUMBER_FORMAT_RECORD_H
#define NUMBER_FORMAT_RECORD_H

#include <stdint.h>

// The start of an input; the records follow.
typedef struct {
  uint64_t has_words; // 1: a line is "%d %s %f\n"; 0: it is "%d\n"
  uint64_t unused[2];
} Head;

// An item: what one line is made of.
typedef struct {
  double real;   // below a million
  int32_t whole;
  char word[12]; // ends with a zero byte
} Record;

// No line is longer: 11 + 1 + 11 + 1 + 14 + 1.
enum { LINE_BYTES = 40 };

// The checksum goes over the lines in their order: where each ends, and its ends.
static inline uint64_t checked(uint64_t sum, const char *line, uint64_t bytes) {
  const uint64_t ends = (uint64_t)(uint8_t)line[0] << 8 | (uint8_t)line[bytes - 2];
  return (sum ^ (bytes << 16 | ends)) * 0x100000001b3u;
}

#endif
