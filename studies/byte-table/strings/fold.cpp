// C++17: one array, filled by a fold over the literals.
#include <array>
#include <cstddef>

template <std::size_t... Sizes> constexpr auto row(const char (&...literals)[Sizes]) {
  std::array<char, (Sizes + ... + 0)> bytes{};
  std::size_t at = 0;
  auto add = [&](const char *literal, std::size_t size) {
    for (std::size_t i = 0; i < size; i++) bytes[at++] = literal[i];
  };
  (add(literals, Sizes), ...);
  return bytes;
}

extern "C" {
extern constexpr auto strings = row("foo", "foobar", "strings at compile time");
extern constexpr auto more_strings = row("one", "two", "one block, five strings", "", "!");
}
