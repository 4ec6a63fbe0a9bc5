// Published as "find", the form that went to Node.js: a copy if there is no percent sign, else the
// pieces between them.

#include "escape.h"

std::string escape(std::string_view path) {
  size_t at = path.find('%');
  if (at == path.npos) return std::string(path);
  std::string escaped;
  for (; at != path.npos; at = path.find('%')) {
    escaped += path.substr(0, at + 1);
    escaped += "25";
    path.remove_prefix(at + 1);
  }
  escaped += path;
  return escaped;
}
