// One copy of a character.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text;
  while (text.size() <= volume) text.append(1, 'a');
  look(text.data(), text.size());
}
