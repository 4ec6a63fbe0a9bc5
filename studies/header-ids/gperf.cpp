// GNU gperf's perfect hash: what it made of the list is included.
#include "ids.h"
#include <cstring>

namespace {

#include <names.c>

struct Names {
  uint16_t id(std::string_view text) const {
    const struct name *found = find_name(text.data(), text.size());
    return found ? static_cast<uint16_t>(found->id) : kUnknown;
  }
};

} // namespace

IDS_CONTESTANT(0u, Names);
