/* What the contestants of this study that are C or C++ share: the checksum and the lines of an
 * answer. Both see a struct as its number and its string. */
#ifndef SORT_STRUCTS_ANSWER_H
#define SORT_STRUCTS_ANSWER_H

#include "tiebreak.h"

#include <stdio.h>
#include <string.h>

/* Places of the sorted list that go into the checksum; the last one goes in as well. */
#define CHECKSUM_PLACES 1024u
#define CHECKSUM_START 0xcbf29ce484222325u

/* The k-th of these places, for k from 0 to CHECKSUM_PLACES. */
static inline uint64_t checksum_place(uint64_t k, uint64_t count) {
  return k < CHECKSUM_PLACES ? k * count / CHECKSUM_PLACES : count - 1;
}

static inline uint64_t checksum_add(uint64_t sum, int32_t number, const char *text,
                                    uint64_t length) {
  uint64_t i;
  sum = (sum ^ (uint32_t)number) * 0x100000001b3u;
  for (i = 0; i < length; i++) sum = (sum ^ (uint8_t)text[i]) * 0x100000001b3u;
  return sum;
}

/* A line of the answer: the number and the string. */
static inline void write_line(const tiebreak_sink *sink, int32_t number, const char *text) {
  char line[64];
  const int length = snprintf(line, sizeof(line), "%d %.40s\n", number, text);
  sink->write(sink->context, line, (uint64_t)length);
}

#endif
