// The room is made, and one function writes into it (C++23). It gets the size; GCC 12 gives it
// the capacity instead where that is larger, so the size is taken from where it is known.
#include "growth.h"
#include <string>

static void grow(uint64_t volume, const Look &look) {
  std::string text;
  const size_t size = volume + 1;
  text.resize_and_overwrite(size, [size](char *to, size_t) {
    for (size_t i = 0; i < size; i++) to[i] = 'a';
    return size;
  });
  look(text.data(), text.size());
}
