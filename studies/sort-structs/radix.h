// What ours have in common: numbers to digits, and strings where numbers tie.
#ifndef SORT_STRUCTS_RADIX_H
#define SORT_STRUCTS_RADIX_H

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <utility>
#include <vector>

// Asks for huge pages where the system gives them on request: fewer faults of memory that is new,
// and a scatter over many small pages is a walk of the page table for each store.
inline void ask_for_huge_pages(void *memory, size_t bytes) {
  constexpr size_t huge = size_t{1} << 21;
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (start + huge - 1) & ~(huge - 1);
  const uintptr_t last = (start + bytes) & ~(huge - 1);
  if (first < last) madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
}

// Memory for `count` of T that nothing has been made in.
template <typename T> class Room {
public:
  explicit Room(size_t count) : data_(static_cast<T *>(operator new(count * sizeof(T)))) {
    ask_for_huge_pages(data_, count * sizeof(T));
  }
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { operator delete(data_); }
  T *get() const { return data_; }
  void swap(Room &other) { std::swap(data_, other.data_); }

private:
  T *data_;
};

// Sorts by `key(element)`, a number below 2^bits, keeping the order of equal ones: the least
// significant digit first. Elements are plain. The result is in `from` again.
template <typename T, typename Key>
void radix_sort(Room<T> &from, size_t count, unsigned bits, Key key) {
  constexpr unsigned widest = 11; // so that the counters and the ends of the buckets fit in L1
  const unsigned passes = (bits + widest - 1) / widest;
  if (passes == 0) return;
  const unsigned width = (bits + passes - 1) / passes;
  const size_t buckets = size_t{1} << width;
  std::vector<uint32_t> starts(passes * buckets);
  const auto digit = [width, buckets](uint64_t value, unsigned pass) {
    return (value >> (pass * width)) & (buckets - 1);
  };
  for (size_t k = 0; k < count; k++) {
    const uint64_t value = key(from.get()[k]);
    for (unsigned pass = 0; pass < passes; pass++) starts[pass * buckets + digit(value, pass)]++;
  }
  Room<T> to(count);
  for (unsigned pass = 0; pass < passes; pass++) {
    uint32_t *start = starts.data() + pass * buckets;
    uint32_t sum = 0;
    for (size_t bucket = 0; bucket < buckets; bucket++) sum += std::exchange(start[bucket], sum);
    for (size_t k = 0; k < count; k++) {
      const T element = from.get()[k];
      to.get()[start[digit(key(element), pass)]++] = element;
    }
    from.swap(to);
  }
}

// The first 16 bytes of a string, with zeros behind a shorter one.
inline __m128i first_bytes(std::string_view text) {
  const auto size = static_cast<uint32_t>(std::min<size_t>(text.size(), 16));
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return _mm_maskz_loadu_epi8(static_cast<__mmask16>(_bzhi_u32(0xffff, size)), text.data());
#else
  char bytes[16] = {};
  memcpy(bytes, text.data(), size);
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes));
#endif
}

// Whether two strings of up to 16 bytes are the same; false for longer ones.
inline bool are_surely_equal(std::string_view left, std::string_view right) {
  const __m128i differ = _mm_xor_si128(first_bytes(left), first_bytes(right));
  return static_cast<bool>(_mm_testz_si128(differ, differ) & (left.size() == right.size()) &
                           (left.size() <= 16));
}

// The first 16 bytes as two numbers that compare as the bytes do, and whose string it was.
struct Prefix {
  uint64_t high;
  uint64_t low;
  uint32_t place;

  bool operator<(const Prefix &other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
  bool operator==(const Prefix &other) const { return high == other.high && low == other.low; }
};

inline Prefix prefix_of(std::string_view text, uint32_t place) {
  const __m128i bytes = first_bytes(text);
  return {__builtin_bswap64(static_cast<uint64_t>(_mm_cvtsi128_si64(bytes))),
          __builtin_bswap64(static_cast<uint64_t>(_mm_extract_epi64(bytes, 1))), place};
}

// Sorts prefixes, equal ones in their first order.
//
// Only the bits that are not the same in all of them count: of "foo123456foo" that is 4 bits of a
// digit and 7 where strings of other lengths have letters. Taken together (pext) they keep their
// order, and are often few enough for one number.
inline void sort_prefixes(Room<Prefix> &prefixes, size_t count) {
  constexpr size_t worth_it = 256; // below, the counters cost more than they save
  if (count < worth_it) {
    std::stable_sort(prefixes.get(), prefixes.get() + count);
    return;
  }
  uint64_t high = 0, low = 0;
  for (size_t k = 1; k < count; k++) {
    high |= prefixes.get()[k].high ^ prefixes.get()[0].high;
    low |= prefixes.get()[k].low ^ prefixes.get()[0].low;
  }
  const auto high_bits = static_cast<unsigned>(std::popcount(high));
  const auto low_bits = static_cast<unsigned>(std::popcount(low));
  const auto by_high = [high](const Prefix &p) { return _pext_u64(p.high, high); };
  const auto by_low = [low](const Prefix &p) { return _pext_u64(p.low, low); };
  if (high_bits + low_bits <= 63) {
    radix_sort(prefixes, count, high_bits + low_bits,
               [=](const Prefix &p) { return by_high(p) << low_bits | by_low(p); });
  } else {
    radix_sort(prefixes, count, low_bits, by_low);
    radix_sort(prefixes, count, high_bits, by_high);
  }
}

// Sorts a few structs by their strings, by insertion.
template <typename Foo, typename Text> void insert_by_text(Foo *foos, size_t count, Text text) {
  for (size_t k = 1; k < count; k++) {
    if (text(foos[k - 1]) <= text(foos[k])) continue;
    Foo moved = std::move(foos[k]);
    size_t to = k;
    for (; to > 0 && text(moved) < text(foos[to - 1]); to--) foos[to] = std::move(foos[to - 1]);
    foos[to] = std::move(moved);
  }
}

// Sorts structs whose numbers are equal, by their strings. `text(foo)` is a struct's string.
template <typename Foo, typename Text> void sort_by_text(Foo *foos, size_t count, Text text) {
  const auto by_text = [&](const Foo &l, const Foo &r) { return text(l) < text(r); };
  if (count <= 16) return insert_by_text(foos, count, text);
  if (std::is_sorted(foos, foos + count, by_text)) return;
  Room<Prefix> prefixes(count);
  for (size_t k = 0; k < count; k++) {
    prefixes.get()[k] = prefix_of(text(foos[k]), static_cast<uint32_t>(k));
  }
  sort_prefixes(prefixes, count);
  std::vector<Foo> sorted;
  sorted.reserve(count);
  ask_for_huge_pages(sorted.data(), count * sizeof(Foo));
  for (size_t k = 0; k < count; k++) {
    const size_t next = std::min(k + 32, count - 1);
    __builtin_prefetch(&foos[prefixes.get()[next].place]);
    sorted.push_back(std::move(foos[prefixes.get()[k].place]));
  }
  // Strings with the same first 16 bytes: the rest decides.
  for (size_t start = 0, end; start < count; start = end) {
    end = start + 1;
    while (end < count && prefixes.get()[end] == prefixes.get()[start]) end++;
    const auto first = sorted.begin() + static_cast<ptrdiff_t>(start);
    const auto last = sorted.begin() + static_cast<ptrdiff_t>(end);
    if (end - start > 1 && !std::is_sorted(first, last, by_text)) std::sort(first, last, by_text);
  }
  std::move(sorted.begin(), sorted.end(), foos);
}

// What one look at the numbers says.
struct Numbers {
  bool are_sorted = true;
  int smallest = 0;
  unsigned bits = 0; // of the largest difference
};

template <typename Foo> Numbers look_at(const Foo *foos, size_t count) {
  Numbers numbers;
  if (count == 0) return numbers;
  int smallest = foos[0].i, largest = foos[0].i;
  bool is_falling = false;
  for (size_t k = 1; k < count; k++) {
    smallest = std::min(smallest, foos[k].i);
    largest = std::max(largest, foos[k].i);
    is_falling |= foos[k].i < foos[k - 1].i;
  }
  const auto range = static_cast<uint32_t>(largest) - static_cast<uint32_t>(smallest);
  numbers.are_sorted = !is_falling;
  numbers.smallest = smallest;
  numbers.bits = static_cast<unsigned>(std::bit_width(range));
  return numbers;
}

#endif
