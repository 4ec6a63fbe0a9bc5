// The outline of a document: which of its bytes are within strings, and where it may be that
// brackets close.
//
// It takes 12 bytes for each 64 of the document, from one pass that finds quotes, backslashes and
// brackets, and no other token. The pass validates UTF-8, that strings end and have no control
// characters, and that as many brackets close as open. Masks of strings by a product without
// carries: Langdale and Lemire 2019, "Parsing gigabytes of JSON per second", section 3.1.1.
#ifndef JSON_OUTLINE_H
#define JSON_OUTLINE_H

#include "harness.h"

#include <array>
#include <immintrin.h>
#include <limits>

struct alignas(32) Vector {
  uint8_t bytes[32];

  // It is loaded: where a loop has many constants GCC makes them anew in each turn, in three
  // instructions each, unless it cannot know them.
  __m256i load() const volatile {
    return _mm256_load_si256(const_cast<const __m256i *>(
        reinterpret_cast<const volatile __m256i *>(bytes)));
  }
};

// One byte 32 times.
template <uint8_t byte>
constinit inline const volatile Vector repeated = [] {
  Vector vector{};
  for (uint8_t &each : vector.bytes) each = byte;
  return vector;
}();
template <uint8_t byte> __m256i all() { return repeated<byte>.load(); }

// Shuffles look up in 16 bytes, so a table stands there twice.
using Table = std::array<uint8_t, 16>;
constexpr Vector twice(const Table &table) {
  Vector vector{};
  for (size_t i = 0; i < 32; i++) vector.bytes[i] = table[i % 16];
  return vector;
}
inline __m256i look_up(const volatile Vector &table, __m256i bytes) {
  return _mm256_shuffle_epi8(table.load(), bytes);
}

inline __m256i load(const void *at) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(at));
}

// The highest bit of each byte, the first byte's lowest.
inline uint32_t bits(__m256i bytes) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
}

template <uint8_t byte> __m256i equal(__m256i bytes) {
  return _mm256_cmpeq_epi8(bytes, all<byte>());
}

// 64 bytes of the document; a mask has one bit for each.
struct Block {
  static constexpr size_t size = 64;
  __m256i low, high;

  explicit Block(const char *at) : low(load(at)), high(load(at + size / 2)) {}

  bool is_ascii() const { return bits(_mm256_or_si256(low, high)) == 0; }
  bool has_backslash() const { return bits(_mm256_or_si256(equal<'\\'>(low), equal<'\\'>(high))); }
  uint64_t backslashes() const { return mask(equal<'\\'>); }
  uint64_t quotes() const { return mask(equal<'"'>); }
  // '{' and '[' are one bit apart, and so are '}' and ']'.
  uint64_t opens() const { return mask(bracket<'{'>); }
  uint64_t closes() const { return mask(bracket<'}'>); }
  uint64_t controls() const {
    return mask([](__m256i bytes) {
      return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, all<0x1f>()), bytes);
    });
  }

private:
  template <uint8_t brace> static __m256i bracket(__m256i bytes) {
    return equal<brace>(_mm256_or_si256(bytes, all<'{' ^ '['>()));
  }
  template <class Test> uint64_t mask(Test test) const {
    return bits(test(low)) | static_cast<uint64_t>(bits(test(high))) << 32;
  }
};

// What two bytes of UTF-8 in sequence must not be: 8 rules, by the halves of the first byte and the
// upper half of the second. Keiser and Lemire 2021, "Validating UTF-8 in less than one instruction
// per byte", has the method.
struct Utf8Rule {
  uint16_t upper, lower, next; // sets of halves
};
constexpr Utf8Rule utf8_rules[8] = {
    {0xf000, 0xffff, 0xf0ff}, // a sequence begins, and does not go on
    {0x00ff, 0xffff, 0x0f00}, // ASCII, and a sequence goes on
    {0x1000, 0x0003, 0x0f00}, // two bytes for what one can say
    {0x4000, 0x0001, 0x0300}, // three bytes for what two can say
    {0x4000, 0x2000, 0x0c00}, // surrogates
    {0x8000, 0xffe1, 0x0100}, // four bytes for what three can say, and f5 or above
    {0x8000, 0xfff0, 0x0e00}, // beyond U+10FFFF
    {0x0f00, 0xffff, 0x0f00}, // a sequence goes on and on: right behind e0 or above
};
// Of each half the rules that have it, a bit each.
constexpr Vector utf8_table(uint16_t Utf8Rule::*set) {
  Table table{};
  for (size_t i = 0; i < 8 * table.size(); i++) {
    const size_t half = i / 8, rule = i % 8;
    table[half] = static_cast<uint8_t>(table[half] | (utf8_rules[rule].*set >> half & 1) << rule);
  }
  return twice(table);
}
constinit inline const volatile Vector utf8_uppers = utf8_table(&Utf8Rule::upper);
constinit inline const volatile Vector utf8_lowers = utf8_table(&Utf8Rule::lower);
constinit inline const volatile Vector utf8_nexts = utf8_table(&Utf8Rule::next);

class Utf8 {
public:
  void check(const Block &block) {
    const bool is_beyond = !block.is_ascii();
    // The block behind one that is beyond ASCII too: there its last sequence must be over.
    if (is_beyond || was_beyond_) {
      check(block.low, last_);
      check(block.high, block.low);
    }
    was_beyond_ = is_beyond;
    last_ = block.high;
  }
  // Ends the text.
  bool is_right() {
    check(_mm256_setzero_si256(), last_);
    return _mm256_testz_si256(wrong_, wrong_);
  }

private:
  static __m256i upper_half(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), all<15>());
  }
  void check(__m256i bytes, __m256i before) {
    const __m256i middle = _mm256_permute2x128_si256(before, bytes, 0x21);
    const __m256i back1 = _mm256_alignr_epi8(bytes, middle, 15);
    const __m256i back2 = _mm256_alignr_epi8(bytes, middle, 14);
    const __m256i back3 = _mm256_alignr_epi8(bytes, middle, 13);
    const __m256i first = _mm256_and_si256(
        look_up(utf8_uppers, upper_half(back1)),
        look_up(utf8_lowers, _mm256_and_si256(back1, all<15>())));
    const __m256i broken =
        _mm256_and_si256(first, look_up(utf8_nexts, upper_half(bytes)));
    // The bit of the last rule, where it is right.
    const __m256i longer = _mm256_or_si256(_mm256_subs_epu8(back2, all<0xe0 - 0x80>()),
                                           _mm256_subs_epu8(back3, all<0xf0 - 0x80>()));
    const __m256i right = _mm256_and_si256(longer, all<0x80>());
    wrong_ = _mm256_or_si256(wrong_, _mm256_xor_si256(broken, right));
  }

  __m256i wrong_ = _mm256_setzero_si256();
  __m256i last_ = _mm256_setzero_si256();
  bool was_beyond_ = false;
};

// It is drawn a stretch at a time, shortly before it is asked for, and keeps its memory from
// document to document.
class Outline {
public:
  // Refuses documents of 2 GiB and more.
  void begin(std::string_view json) {
    if (json.size() > std::numeric_limits<int32_t>::max()) throw Refused();
    begin_ = json.data();
    blocks_ = (json.size() + Block::size - 1) / Block::size;
    if (!strings_ || blocks_ > capacity_) {
      capacity_ = blocks_;
      strings_ = std::make_unique_for_overwrite<uint64_t[]>(capacity_ + 1);
      floors_ = std::make_unique_for_overwrite<int32_t[]>(capacity_ + lanes);
    }
    drawn_ = 0;
    state_ = {};
    stop();
  }

  // Draws what is left, and refuses a document that is not valid as far as this outline tells.
  void end() {
    while (drawn_ < blocks_) draw();
    if (!state_.utf8.is_right() || state_.wrong || state_.inside || state_.depth) throw Refused();
  }

  // Gives the quote that closes the string that opens at `quote`.
  const char *string_end(const char *quote) {
    const auto at = static_cast<size_t>(quote - begin_);
    need(at / Block::size);
    // 57 bits at least, of two blocks where they meet.
    uint64_t strings;
    std::memcpy(&strings, reinterpret_cast<const char *>(&strings_[0]) + at / 8, sizeof(strings));
    const int length = std::countr_one(strings >> at % 8);
    return length < 57 ? quote + length : long_string_end(at);
  }

  // Gives the bracket that closes what is open at `from`, where the depth is `depth`.
  const char *close(const char *from, int32_t depth) {
    const auto at = static_cast<size_t>(from - begin_);
    size_t block = at / Block::size;
    need(block);
    uint64_t found = 0;
    if (floors_[block] < depth) {
      found = Brackets(*this, block).behind(at % Block::size).below(depth, depth);
    }
    while (!found) {
      block = next_below(block + 1, depth);
      const Brackets brackets(*this, block);
      found = brackets.below(depth, floors_[block] + brackets.drop());
    }
    return place(block, found);
  }

private:
  // How many blocks a stretch has: 8 KiB of the document.
  static constexpr size_t stretch = 128;
  static constexpr size_t lanes = 8;

  // What the pass keeps from block to block.
  struct State {
    Utf8 utf8;
    uint64_t wrong = 0, inside = 0, escapes_next = 0;
    int32_t depth = 0;
  };

  // The brackets of a block that are outside of strings.
  struct Brackets {
    uint64_t opens, closes;

    Brackets(const Block &block, uint64_t strings)
        : opens(block.opens() & ~strings), closes(block.closes() & ~strings) {}
    Brackets(const Outline &outline, size_t block)
        : Brackets(Block(outline.begin_ + block * Block::size), outline.strings_[block]) {}

    Brackets behind(size_t at) const {
      Brackets rest = *this;
      rest.opens &= ~uint64_t{0} << at;
      rest.closes &= ~uint64_t{0} << at;
      return rest;
    }
    int32_t rise() const { return std::popcount(opens) - std::popcount(closes); }
    // By how much the depth gets lower at most: all that closes, but for [] and {}.
    int32_t drop() const { return std::popcount(closes) - std::popcount(opens & closes >> 1); }
    // Gives the bit of the first that closes below `depth`, from the depth `now`; 0 if none does.
    uint64_t below(int32_t depth, int32_t now) const {
      for (uint64_t left = closes; left; left &= left - 1) {
        const uint64_t lowest = left & -left;
        if (now + std::popcount(opens & (lowest - 1)) - std::popcount(closes & (2 * lowest - 1)) <
            depth) {
          return lowest;
        }
      }
      return 0;
    }
  };

  __attribute__((noinline)) void draw() {
    State state = state_;
    const size_t end = std::min(blocks_, drawn_ + stretch);
    for (size_t i = drawn_; i < end; i++) {
      const Block block(begin_ + i * Block::size);
      state.utf8.check(block);
      uint64_t quotes = block.quotes();
      if (block.has_backslash() || state.escapes_next) {
        quotes &= ~escaped(block.backslashes(), state.escapes_next);
      }
      // A string has bits from the quote that opens it to before the one that closes it.
      const __m128i product = _mm_clmulepi64_si128(
          _mm_cvtsi64_si128(static_cast<int64_t>(quotes)), _mm_set1_epi8(-1), 0);
      const uint64_t strings = static_cast<uint64_t>(_mm_cvtsi128_si64(product)) ^ state.inside;
      state.inside = static_cast<uint64_t>(static_cast<int64_t>(strings) >> 63);
      state.wrong |= block.controls() & strings;
      const Brackets brackets(block, strings);
      strings_[i] = strings;
      floors_[i] = state.depth - brackets.drop();
      state.depth += brackets.rise();
    }
    drawn_ = end;
    state_ = state;
    stop();
  }

  // Behind what is drawn no string ends, and any bracket may close.
  void stop() {
    strings_[drawn_] = ~uint64_t{0};
    std::fill_n(&floors_[drawn_], lanes, std::numeric_limits<int32_t>::min());
  }

  // Draws until a block is drawn; refuses the document if it has no such block.
  void need(size_t block) {
    while (block >= drawn_) [[unlikely]] {
      if (drawn_ == blocks_) throw Refused();
      draw();
    }
  }

  // Which bytes of a block are escaped; its last may escape the first of the next block.
  static uint64_t escaped(uint64_t backslashes, uint64_t &escapes_next) {
    uint64_t escaped = escapes_next;
    uint64_t left = backslashes & ~escapes_next;
    escapes_next = 0;
    while (left) {
      const uint64_t lowest = left & -left;
      escaped |= lowest << 1;
      escapes_next = lowest >> 63;
      left &= ~(lowest | lowest << 1);
    }
    return escaped;
  }

  __attribute__((noinline)) const char *long_string_end(size_t at) {
    size_t block = at / Block::size;
    uint64_t outside = ~strings_[block] & ~uint64_t{0} << at % Block::size;
    while (!outside) {
      need(++block);
      outside = ~strings_[block];
    }
    return place(block, outside);
  }

  // Gives the first block from `block` on whose floor is below `depth`.
  size_t next_below(size_t block, int32_t depth) {
    for (;;) {
      need(block);
      const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(depth), load(&floors_[block]));
      const auto found = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(below)));
      block += found ? static_cast<size_t>(std::countr_zero(found)) : lanes;
      if (found && block < drawn_) return block;
    }
  }

  const char *place(size_t block, uint64_t bits) const {
    return begin_ + block * Block::size + std::countr_zero(bits);
  }

  const char *begin_ = nullptr;
  size_t blocks_ = 0;
  size_t drawn_ = 0;
  size_t capacity_ = 0;
  State state_;
  std::unique_ptr<uint64_t[]> strings_;
  // How deep each block begins, less its drop: within it the depth gets no lower.
  std::unique_ptr<int32_t[]> floors_;
};

#endif
