// Published together with "find": it counts the percent signs once it has found one, so that there
// is one allocation of the exact size.

#include "escape.h"

#include <algorithm>

std::string escape(std::string_view path) {
  size_t at = path.find('%');
  if (at == path.npos) return std::string(path);
  const auto count = static_cast<size_t>(std::count(path.begin() + at, path.end(), '%'));
  std::string escaped;
  escaped.reserve(path.size() + 2 * count);
  for (; at != path.npos; at = path.find('%')) {
    escaped += path.substr(0, at + 1);
    escaped += "25";
    path.remove_prefix(at + 1);
  }
  escaped += path;
  return escaped;
}
