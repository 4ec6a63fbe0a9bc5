// So many copies at once.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text(volume + 1, 'a');
  look(text.data(), text.size());
}
