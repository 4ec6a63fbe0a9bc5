// A std::ostringstream a line, as published; or, with STREAM_REUSED, one a thread that is emptied
// before each line.

#include "record.h"

#include <cstring>
#include <sstream>
#include <string_view>

struct Formatter {
#ifdef STREAM_REUSED
  std::ostringstream reused;
  std::ostringstream &fresh() {
    reused.str(std::string());
    return reused;
  }
#define STREAM std::ostringstream &stream = fresh()
#else
#define STREAM std::ostringstream stream
#endif

  static char *copied(char *out, const std::ostringstream &stream) {
    const std::string_view text = stream.view();
    memcpy(out, text.data(), text.size());
    return out + text.size();
  }
  char *integer(char *out, const Record &record) {
    STREAM;
    stream << record.whole << '\n';
    return copied(out, stream);
  }
  char *line(char *out, const Record &record) {
    STREAM;
    stream << record.whole << ' ' << record.word << ' ' << std::fixed << record.real << '\n';
    return copied(out, stream);
  }
};

#define FORMATTER_FLAGS TIEBREAK_ALLOCATES
#include "lines.h"
