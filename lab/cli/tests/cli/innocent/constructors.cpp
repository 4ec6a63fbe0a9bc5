// Has an object that is made when it is loaded, and unmade when it is unloaded.
#include "tiebreak.h"
#include <array>
#include <string>
#include <vector>

namespace {
struct Table {
  std::vector<uint64_t> values;
  std::string name = "a name that is too long for the string's own room";
  Table() : values(256) {
    for (uint64_t i = 0; i < values.size(); i++) values[i] = i;
  }
  ~Table() { values.clear(); }
};
Table table;
} // namespace

TIEBREAK_KERNEL uint64_t sum(const uint8_t *bytes, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += table.values[bytes[i]];
  return sum + table.name.size() - 49;
}

TIEBREAK_NUMBER(sum);
