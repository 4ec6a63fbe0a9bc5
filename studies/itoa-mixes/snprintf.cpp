// glibc's.
#include "lines.h"
#include <cinttypes>
#include <cstdio>

struct Put {
  static char *put(char *out, uint64_t number) {
    return out + snprintf(out, 32, "%" PRIu64, number);
  }
};

LINES_CONTESTANT("snprintf", Put);
