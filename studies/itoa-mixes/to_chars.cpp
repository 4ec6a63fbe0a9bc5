// libstdc++'s std::to_chars: the length first, then two digits at a time from the end.
#include "lines.h"
#include <charconv>

struct Put {
  static char *put(char *out, uint64_t number) { return std::to_chars(out, out + 32, number).ptr; }
};

LINES_CONTESTANT("std::to_chars", Put);
