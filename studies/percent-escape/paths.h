// The strings of an input, and what of their escaped forms goes into the checksum.
#ifndef PERCENT_ESCAPE_PATHS_H
#define PERCENT_ESCAPE_PATHS_H

#include "tiebreak.h"

#include <cstring>
#include <string_view>
#include <vector>

// An input is a list of strings, each behind its length as 4 bytes, little end first. The views
// point into the input, so the last one ends where the input does.
inline std::vector<std::string_view> paths_of(const uint8_t *input, uint64_t input_bytes) {
  std::vector<std::string_view> paths;
  for (uint64_t at = 0; at + 4 <= input_bytes;) {
    const uint64_t length = input[at] | input[at + 1] << 8 | input[at + 2] << 16 |
                            static_cast<uint64_t>(input[at + 3]) << 24;
    paths.emplace_back(reinterpret_cast<const char *>(input + at + 4), length);
    at += 4 + length;
  }
  return paths;
}

// Size and middle byte: the whole answer is compared where `dump` gives it.
inline uint64_t checksum_of(std::string_view escaped) {
  const auto middle = escaped.empty() ? uint8_t{0}
                                      : static_cast<uint8_t>(escaped[escaped.size() / 2]);
  return escaped.size() + (static_cast<uint64_t>(middle) << 32);
}

inline void write_line(const tiebreak_sink *sink, std::string_view line) {
  sink->write(sink->context, line.data(), line.size());
  sink->write(sink->context, "\n", 1);
}

#ifndef ESCAPE_NEEDS
#define ESCAPE_NEEDS ""
#endif

#endif
