// That of stringencoders, written anew after the source's words: a digit a step, the last first,
// and then all of them turned round.
#include "../itoa-mixes/lines.h"

struct Put {
  static char *put(char *out, uint64_t number) {
    char *end = out;
    do {
      *end++ = (char)('0' + number % 10);
    } while (number /= 10);
    for (char *last = end; out < --last; out++) {
      char digit = *last;
      *last = *out;
      *out = digit;
    }
    return end;
  }
};

LINES_CONTESTANT("modp", Put);
