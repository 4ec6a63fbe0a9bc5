// A character in place of a string of one.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text;
  while (text.size() <= volume) text.push_back('a');
  look(text.data(), text.size());
}
