// Published as "stream": the same through std::ostringstream.

#include "escape.h"

#include <sstream>

std::string escape(std::string_view path) {
  std::ostringstream escaped;
  for (const char c : path) {
    escaped << c;
    if (c == '%') escaped << "25";
  }
  return escaped.str();
}
