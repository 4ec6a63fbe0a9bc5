// std::to_chars, in the source's list of what else can be done: numbers alone, put together by
// hand.

#include "record.h"

#include <charconv>
#include <cstring>

struct Formatter {
  char *integer(char *out, const Record &record) {
    out = std::to_chars(out, out + LINE_BYTES, record.whole).ptr;
    *out = '\n';
    return out + 1;
  }
  char *line(char *out, const Record &record) {
    out = std::to_chars(out, out + LINE_BYTES, record.whole).ptr;
    *out++ = ' ';
    const size_t length = strlen(record.word);
    memcpy(out, record.word, length);
    out += length;
    *out++ = ' ';
    out = std::to_chars(out, out + LINE_BYTES, record.real, std::chars_format::fixed, 6).ptr;
    *out = '\n';
    return out + 1;
  }
};

#include "lines.h"
