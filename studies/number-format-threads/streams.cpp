// A std::ostringstream a line, as published; with STREAM_LOCALE each of them has a locale that is not
// the classic one; with STREAM_REUSED there is one stream a thread, emptied before each line.

#include "record.h"

#include <cstring>
#include <locale>
#include <sstream>
#include <string_view>

// It writes numbers as the classic one does. Programs have such a one by std::locale::global.
[[maybe_unused]] static const std::locale &other_locale() {
  static const std::locale other(std::locale::classic(), new std::numpunct<char>);
  return other;
}

struct Formatter {
#ifdef STREAM_REUSED
  std::ostringstream reused;
  std::ostringstream &fresh() {
    reused.str(std::string());
    return reused;
  }
#define STREAM std::ostringstream &stream = fresh()
#elif defined(STREAM_LOCALE)
#define STREAM                                                                                     \
  std::ostringstream stream;                                                                       \
  stream.imbue(other_locale())
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
