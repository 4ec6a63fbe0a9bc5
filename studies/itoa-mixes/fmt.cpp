// {fmt}'s format_int, which writes into a buffer of its own, and a copy of that.
#include "lines.h"
#include <cstring>
#include <fmt/format.h>

struct Put {
  static char *put(char *out, uint64_t number) {
    fmt::format_int text(number);
    memcpy(out, text.data(), text.size());
    return out + text.size();
  }
};

LINES_CONTESTANT("fmt::format_int", Put);
