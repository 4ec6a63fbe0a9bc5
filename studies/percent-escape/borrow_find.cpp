// The contract "borrow" with the standard library's search.

#include "escape.h"

std::string_view escape_or_borrow(std::string_view path, std::string &owned) {
  size_t at = path.find('%');
  if (at == path.npos) return path;
  for (; at != path.npos; at = path.find('%')) {
    owned += path.substr(0, at + 1);
    owned += "25";
    path.remove_prefix(at + 1);
  }
  owned += path;
  return owned;
}
