// As published, but no string gets longer than that of the volume 1000: the same characters in many
// strings. If the time per character does not depend on the volume, one long string takes as long.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  for (uint64_t left = volume + 1; left > 0;) {
    std::string text;
    while (text.size() <= 1000 && text.size() < left) text += "a";
    left -= text.size();
    look(text.data(), text.size());
  }
}
