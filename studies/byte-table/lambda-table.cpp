// The source's second form: the compiler makes the table, from a lambda.
#include "frame.h"
#include <array>

constexpr static std::array<uint8_t, 256> is_forbidden_array = []() {
  std::array<uint8_t, 256> result{};
  for (uint8_t c : {'\0', '\x09', '\x0a', '\x0d', ' ', '#', '/', ':', '<', '>', '?', '@', '[', '\\',
                    ']', '^', '|'}) {
    result[c] = true;
  }
  return result;
}();

TIEBREAK_KERNEL bool is_forbidden(char c) { return is_forbidden_array[uint8_t(c)]; }

BYTE_CONTESTANT("table from a lambda", is_forbidden);
