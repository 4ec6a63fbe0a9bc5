// The contract "batch" with the C library's search and copy.

#include "escape.h"

#include <cstring>

void escape_all(const std::string_view *paths, size_t count, char *arena, size_t *ends) {
  char *to = arena;
  for (size_t i = 0; i < count; i++) {
    const char *from = paths[i].data();
    const char *end = from + paths[i].size();
    while (from != end) {
      const auto rest = static_cast<size_t>(end - from);
      const auto *sign = static_cast<const char *>(memchr(from, '%', rest));
      if (sign == nullptr) {
        memcpy(to, from, rest);
        to += rest;
        break;
      }
      const auto piece = static_cast<size_t>(sign + 1 - from);
      memcpy(to, from, piece);
      memcpy(to + piece, "25", 2);
      to += piece + 2;
      from = sign + 1;
    }
    ends[i] = static_cast<size_t>(to - arena);
  }
}
