// As published, with all the room made first: nothing is ever moved.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text;
  text.reserve(volume + 1);
  while (text.size() <= volume) text += "a";
  look(text.data(), text.size());
}
