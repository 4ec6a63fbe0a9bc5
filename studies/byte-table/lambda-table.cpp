// The source's second form: the compiler makes the table, by a lambda that it runs.
#include "frame.h"
#include "set.h"

static constexpr auto FORBIDDEN = [] {
  std::array<uint8_t, 256> table{};
  for (const uint8_t member : SET) table[member] = 1;
  return table;
}();

TIEBREAK_KERNEL bool is_forbidden(char byte) { return FORBIDDEN[static_cast<uint8_t>(byte)]; }

BYTE_CONTESTANT("table from a lambda", is_forbidden);
