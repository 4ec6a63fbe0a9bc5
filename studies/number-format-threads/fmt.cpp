// {fmt}, in the source's list of what else can be done. Its code is in this file, so that it is
// placed afresh.

#include "record.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

struct Formatter {
  char *integer(char *out, const Record &record) {
    return fmt::format_to(out, "{}\n", record.whole);
  }
  char *line(char *out, const Record &record) {
    const char *word = record.word;
    return fmt::format_to(out, "{} {} {:f}\n", record.whole, word, record.real);
  }
};

#include "lines.h"
