// snprintf of the C library, as published.

#include "record.h"

#include <cstdio>

struct Formatter {
  char *integer(char *out, const Record &record) {
    return out + snprintf(out, LINE_BYTES + 1, "%d\n", record.whole);
  }
  char *line(char *out, const Record &record) {
    return out + snprintf(out, LINE_BYTES + 1, "%d %s %f\n", record.whole, record.word, record.real);
  }
};

#include "lines.h"
