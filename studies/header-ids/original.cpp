// The source's lookup: a table of both spellings, and of names in lower case for the others.
#include "ids.h"
#include <string>
#include <unordered_map>

namespace {

const char *const kNames[] = {
#include "names.inc"
};

std::string lowered(std::string_view name) {
  std::string lower(name);
  for (char &c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return lower;
}

struct Names {
  std::unordered_map<std::string, uint16_t> known;

  Names() {
    uint16_t id = 0;
    for (const char *name : kNames) known[name] = known[lowered(name)] = id++;
  }

  uint16_t id(std::string_view text) const {
    auto found = known.find(std::string(text));
    if (found == known.end()) found = known.find(lowered(text));
    return found == known.end() ? kUnknown : found->second;
  }
};

} // namespace

IDS_CONTESTANT(TIEBREAK_ALLOCATES, Names);
