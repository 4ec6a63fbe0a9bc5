// The oracle of this study: makes the structs and sorts them.
//
// An input is a list of pairs of 32-bit numbers (i, j), little end first: {i, "foo<j>foo"}. An
// answer is a line a struct, in order: i and the string.

#include "tiebreak.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Foo {
  int32_t number;
  char text[20];
  uint8_t length;

  std::string_view string() const { return {text, length}; }
  bool operator<(const Foo &other) const {
    return number != other.number ? number < other.number : string() < other.string();
  }
};

Foo foo_of(int32_t number, uint32_t inner) {
  Foo foo{number, "foo", 0};
  char *end = std::to_chars(foo.text + 3, foo.text + 17, inner).ptr;
  memcpy(end, "foo", 3);
  foo.length = static_cast<uint8_t>(end + 3 - foo.text);
  return foo;
}

uint64_t below(uint64_t &state, uint64_t end) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(tiebreak_random(&state)) * end) >>
                               64);
}

constexpr uint64_t distinct_numbers = 16;
constexpr int32_t only_number = 7;

// The pair at a place, or no such distribution.
bool pair_at(std::string_view distribution, uint64_t place, uint64_t size, uint64_t &state,
             int32_t pair[2]) {
  if (distribution == "random") {
    pair[0] = pair[1] = static_cast<int32_t>(below(state, size));
  } else if (distribution == "sorted") {
    pair[0] = pair[1] = static_cast<int32_t>(place);
  } else if (distribution == "few-distinct") {
    pair[0] = pair[1] = static_cast<int32_t>(below(state, distinct_numbers));
  } else if (distribution == "all-equal") {
    pair[0] = only_number;
    pair[1] = static_cast<int32_t>(below(state, size));
  } else if (distribution == "mixed") {
    // Of either sign, with ties of any size and strings that differ within them.
    pair[0] = static_cast<int32_t>(tiebreak_random(&state)) >> (place % 32);
    pair[1] = static_cast<int32_t>(tiebreak_random(&state) >> (33 + place % 31));
  } else {
    return false;
  }
  return true;
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  uint64_t state = request->seed + request->part;
  // Parts have sizes of their own, so that small ones and odd ones come too.
  const uint64_t size = request->parts > 1 ? request->part : request->size;
  for (uint64_t i = 0; i < size; i++) {
    int32_t pair[2];
    if (!pair_at(request->distribution, i, size, state, pair)) return 1;
    sink->write(sink->context, pair, sizeof(pair));
  }
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *, uint64_t input_bytes) {
  return input_bytes / 8;
}

// 1024 places spread over the answer, and the last: order, numbers and strings go into it.
uint64_t checksum_of(const std::vector<Foo> &foos) {
  uint64_t sum = 0xcbf29ce484222325u;
  const auto add = [&sum](uint32_t word) { sum = (sum ^ word) * 0x100000001b3u; };
  const uint64_t count = foos.size();
  for (uint64_t k = 0; k <= 1024 && count > 0; k++) {
    const Foo &foo = foos[k < 1024 ? k * count / 1024 : count - 1];
    add(static_cast<uint32_t>(foo.number));
    for (const char c : foo.string()) add(static_cast<uint8_t>(c));
  }
  return sum;
}

int answer(const tiebreak_request *, const uint8_t *input, uint64_t input_bytes,
           const tiebreak_sink *sink, uint64_t *checksum) {
  std::vector<Foo> foos;
  foos.reserve(input_bytes / 8);
  for (uint64_t at = 0; at + 8 <= input_bytes; at += 8) {
    int32_t pair[2];
    memcpy(pair, input + at, sizeof(pair));
    foos.push_back(foo_of(pair[0], static_cast<uint32_t>(pair[1])));
  }
  std::stable_sort(foos.begin(), foos.end());
  *checksum = checksum_of(foos);
  std::string lines;
  for (const Foo &foo : foos) {
    lines += std::to_string(foo.number);
    lines += ' ';
    lines += foo.string();
    lines += '\n';
    if (lines.size() > (1u << 16)) {
      sink->write(sink->context, lines.data(), lines.size());
      lines.clear();
    }
  }
  sink->write(sink->context, lines.data(), lines.size());
  return 0;
}

} // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
