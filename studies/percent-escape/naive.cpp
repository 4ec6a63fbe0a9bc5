// Published as "naive strings": a character at a time.

#include "escape.h"

std::string escape(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    escaped += c;
    if (c == '%') escaped += "25";
  }
  return escaped;
}
