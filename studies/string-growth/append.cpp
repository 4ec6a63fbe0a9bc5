// As published: `+= "a"`.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text;
  while (text.size() <= volume) text += "a";
  look(text.data(), text.size());
}
