// The set, for contestants that make their own tables of it while they are compiled.
#ifndef SET_H
#define SET_H

#include <array>
#include <cstddef>
#include <cstdint>

// In the order of ASCII: the end of a string, tab, line feed, carriage return, blank, then
// # / : < > ? @ [ \ ] ^ and |.
constexpr uint8_t SET[] = {0x00, 0x09, 0x0a, 0x0d, 0x20, 0x23, 0x2f, 0x3a, 0x3c,
                           0x3e, 0x3f, 0x40, 0x5b, 0x5c, 0x5d, 0x5e, 0x7c};

// 256 bits, of which bit c % WIDTH of word c / WIDTH says whether c is in the set.
template <typename Word> constexpr auto bits_of_set() {
  constexpr unsigned width = 8 * sizeof(Word);
  std::array<Word, 256 / width> words{};
  for (uint8_t c : SET) words[c / width] |= Word(Word(1) << (c % width));
  return words;
}

#endif
