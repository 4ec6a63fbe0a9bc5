// The source's third form: no table, a chain of comparisons.
#include "frame.h"

TIEBREAK_KERNEL bool is_forbidden(char c) {
  return c == '\0' || c == '\x09' || c == '\x0a' || c == '\x0d' || c == ' ' || c == '#' ||
         c == '/' || c == ':' || c == '<' || c == '>' || c == '?' || c == '@' || c == '[' ||
         c == '\\' || c == ']' || c == '^' || c == '|';
}

BYTE_CONTESTANT("chain", is_forbidden);
