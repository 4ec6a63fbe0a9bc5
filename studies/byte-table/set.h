// The set, for contestants that make their own tables of it while they are compiled.
#ifndef SET_H
#define SET_H

#include <array>
#include <cstddef>
#include <cstdint>

constexpr uint8_t SET[] = {0,   '\t', '\n', '\r', ' ',  '#', '/', ':', '<',
                           '>', '?',  '@',  '[',  '\\', ']', '^', '|'};

// 256 bits, of which bit c % WIDTH of word c / WIDTH says whether c is in the set.
template <typename Word> constexpr auto bits_of_set() {
  constexpr unsigned width = 8 * sizeof(Word);
  std::array<Word, 256 / width> words{};
  for (uint8_t c : SET) words[c / width] |= Word(Word(1) << (c % width));
  return words;
}

#endif
