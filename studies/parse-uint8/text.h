// What contestants of this study that are C++ share: the strings and the function that is timed.
#ifndef PARSE_UINT8_TEXT_H
#define PARSE_UINT8_TEXT_H

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__)
#define HIDDEN __attribute__((visibility("hidden")))
#else
#define HIDDEN
#endif

// An item of the input: 7 bytes of text and what follows it in memory, then the length.
struct Record {
  char text[7];
  uint8_t length;
};

// Laid out as a short std::string of libstdc++: 32 bytes, the characters after pointer and length.
struct Text {
  const char *data;
  size_t size;
  char local[16];
};

// The kernel, in a source of its own, so that each number costs a real call as in the source.
// It may read 4 bytes at `text`, whatever `length` is, and writes `*number`. The published function
// without a check gives nothing back.
#ifdef PARSE_UNCHECKED
extern "C" HIDDEN void parse_uint8(const char *text, size_t length, uint8_t *number);
#else
extern "C" HIDDEN int parse_uint8(const char *text, size_t length, uint8_t *number);
#endif

#endif
