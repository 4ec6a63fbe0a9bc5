// The oracle of this study: makes the paths and says what they become. An answer is the escaped
// path as a line, so no path has a line feed in it.

#include "paths.h"

#include <string>
#include <string_view>

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // A number below `end`; its bias is of no matter here.
  uint64_t below(uint64_t end) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(tiebreak_random(&state_)) * end) >>
                                 64);
  }

private:
  uint64_t state_;
};

class Input {
public:
  explicit Input(const tiebreak_sink *sink) : sink_(sink) {}
  ~Input() { flush(); }
  void path(std::string_view path) {
    for (unsigned i = 0; i < 4; i++) bytes_ += static_cast<char>(path.size() >> (8 * i));
    bytes_ += path;
    if (bytes_.size() > (1u << 16)) flush();
  }

private:
  void flush() {
    sink_->write(sink_->context, bytes_.data(), bytes_.size());
    bytes_.clear();
  }
  const tiebreak_sink *sink_;
  std::string bytes_;
};

// A path of so many characters: names of letters, digits and a few signs between slashes.
std::string path_of(Random &random, uint64_t length) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzetaoinsr0123456789-_.@";
  std::string path;
  for (uint64_t i = 0; i < length; i++) {
    path += random.below(9) == 0 ? '/' : letters[random.below(sizeof(letters) - 1)];
  }
  return path;
}

// What a set of paths looks like: the lengths are `shortest` and two draws from 0 to `spread` more,
// and so many in 6207 of them have two percent signs each.
struct Shape {
  uint64_t shortest;
  uint64_t spread;
  uint64_t escaped_in_6207;
  bool is_all_signs;
};

constexpr Shape isaacs{60, 57, 39, false};
constexpr Shape node{20, 38, 0, false};
constexpr Shape adversarial{60, 57, 0, true};

void paths(Input &input, uint64_t count, uint64_t seed, const Shape &shape) {
  Random random(seed);
  uint64_t still_to_escape = (count * shape.escaped_in_6207 + 6206) / 6207;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t length =
        shape.shortest + random.below(shape.spread + 1) + random.below(shape.spread + 1);
    if (shape.is_all_signs) {
      input.path(std::string(length, '%'));
      continue;
    }
    std::string path = path_of(random, length);
    // Each remaining path is as likely as any other to be one of those that still have to come.
    if (random.below(count - i) < still_to_escape) {
      still_to_escape--;
      const uint64_t first = random.below(length);
      const uint64_t second = (first + 1 + random.below(length - 1)) % length;
      path[first] = path[second] = '%';
    }
    input.path(path);
  }
}

// For each length up to `longest`: bytes of any value, percent signs among them as often as said.
void any_bytes(Input &input, uint64_t longest, uint64_t seed) {
  static const uint64_t percent[] = {0, 1, 2, 10, 50, 90, 100};
  Random random(seed);
  for (uint64_t length = 0; length <= longest; length++) {
    for (const uint64_t share : percent) {
      std::string path;
      for (uint64_t i = 0; i < length; i++) {
        const auto byte = static_cast<char>(random.below(256));
        path += random.below(100) < share ? '%' : byte == '\n' || byte == '%' ? '$' : byte;
      }
      input.path(path);
    }
  }
}

// For each length up to `longest`: one percent sign, at each place.
void one_sign(Input &input, uint64_t longest, uint64_t seed) {
  Random random(seed);
  for (uint64_t length = 1; length <= longest; length++) {
    const std::string plain = path_of(random, length);
    for (uint64_t at = 0; at < length; at++) {
      std::string path = plain;
      path[at] = '%';
      input.path(path);
    }
  }
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  const std::string_view distribution = request->distribution;
  Input input(sink);
  if (distribution == "isaacs") {
    paths(input, request->size, request->seed, isaacs);
  } else if (distribution == "node") {
    paths(input, request->size, request->seed, node);
  } else if (distribution == "adversarial") {
    paths(input, request->size, request->seed, adversarial);
  } else if (distribution == "any-bytes") {
    any_bytes(input, request->size, request->seed + request->part);
  } else if (distribution == "one-sign") {
    one_sign(input, request->size, request->seed);
  } else {
    return 1;
  }
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *input, uint64_t input_bytes) {
  return paths_of(input, input_bytes).size();
}

std::string escaped(std::string_view path, bool is_ascii_only) {
  static const char digits[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : path) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '%' || (is_ascii_only && byte >= 0x80)) {
      escaped += '%';
      escaped += digits[byte >> 4];
      escaped += digits[byte & 15];
    } else {
      escaped += c;
    }
  }
  return escaped;
}

int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
           const tiebreak_sink *sink, uint64_t *checksum) {
  const bool is_ascii_only = request->contract == std::string_view("ascii");
  *checksum = 0;
  for (const std::string_view path : paths_of(input, input_bytes)) {
    const std::string line = escaped(path, is_ascii_only);
    *checksum += checksum_of(line);
    write_line(sink, line);
  }
  return 0;
}

} // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
