// What the contestants under the contract "batch" share: one text, a number a line, and one call
// for all of it.
#ifndef PARSE_UINT8_LINES_H
#define PARSE_UINT8_LINES_H

#include "text.h"

#include <cstddef>
#include <cstdint>

// Reads `size` bytes of lines, each ended by '\n', and writes for each its number, or 256 where it
// is none. 64 bytes past the end may be read, 64 numbers past the end be written.
extern "C" HIDDEN void parse_lines(const char *text, size_t size, uint16_t *numbers);

constexpr uint16_t no_number = 256;
constexpr size_t slack_bytes = 64;
constexpr size_t slack_numbers = 64;

#endif
