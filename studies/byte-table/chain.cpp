// The source's third form: no table, one comparison after the other, in the order of the bytes. It
// is one expression, as gcc makes two bit tests of one and other code of several.
#include "frame.h"

TIEBREAK_KERNEL bool is_forbidden(char byte) {
  return byte == 0 || byte == '\t' || byte == '\n' || byte == '\r' || byte == ' ' || byte == '#' ||
         byte == '/' || byte == ':' || byte == '<' || byte == '>' || byte == '?' || byte == '@' ||
         byte == '[' || byte == '\\' || byte == ']' || byte == '^' || byte == '|';
}

BYTE_CONTESTANT("chain", is_forbidden);
