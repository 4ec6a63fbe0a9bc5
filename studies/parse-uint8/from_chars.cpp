// Published as "std::from_chars". It stops at the first character that is no digit and calls what
// it has read a number: "12x" is 12. So it stands under a contract of its own.

#include "text.h"

#include <charconv>
#include <system_error>

extern "C" int parse_uint8(const char *text, size_t length, uint8_t *number) {
  const auto [end, error] = std::from_chars(text, text + length, *number);
  return error == std::errc();
}
