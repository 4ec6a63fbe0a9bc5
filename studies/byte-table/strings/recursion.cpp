// The way of the source, which C++11 needs: a literal is taken apart character by character into a
// parameter pack, which initialises an array; a tuple by inheritance puts the arrays side by side.
#include <cstddef>

namespace {

template <std::size_t N> struct Text {
  template <typename... Chars> constexpr explicit Text(Chars... chars) : bytes{chars...} {}
  char bytes[N];
};

// Adds one character to the pack, until all N are there.
template <std::size_t N, std::size_t At> struct Take {
  template <typename... Chars>
  static constexpr Text<N> from(const char (&literal)[N], Chars... chars) {
    return Take<N, At + 1>::from(literal, chars..., literal[At]);
  }
};
template <std::size_t N> struct Take<N, N> {
  template <typename... Chars> static constexpr Text<N> from(const char (&)[N], Chars... chars) {
    return Text<N>(chars...);
  }
};

// Base classes lie in the order in which they are named. The depth tells leaves of one type apart.
template <std::size_t Depth, typename T> struct Leaf {
  constexpr explicit Leaf(T it) : value(it) {}
  T value;
};
template <typename... Texts> struct Row;
template <> struct Row<> {};
template <typename First, typename... Rest>
struct Row<First, Rest...> : Leaf<sizeof...(Rest), First>, Row<Rest...> {
  constexpr explicit Row(First first, Rest... rest)
      : Leaf<sizeof...(Rest), First>(first), Row<Rest...>(rest...) {}
};

template <std::size_t... Sizes>
constexpr Row<Text<Sizes>...> row(const char (&...literals)[Sizes]) {
  return Row<Text<Sizes>...>(Take<Sizes, 0>::from(literals)...);
}

} // namespace

extern "C" {
extern constexpr auto strings = row("foo", "foobar", "strings at compile time");
extern constexpr auto more_strings = row("one", "two", "one block, five strings", "", "!");
}
