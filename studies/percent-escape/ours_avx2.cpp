// Ours under the published contract for a CPU without AVX-512: as there, 32 bytes at a time, the
// last ones once more so that no byte is alone.

#include "escape.h"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

namespace {

// Copies, and gives whether there is a percent sign.
inline bool copied(const char *from, size_t size, char *to) {
  if (size < 32) {
    memcpy(to, from, size);
    return memchr(from, '%', size) != nullptr;
  }
  const __m256i sign = _mm256_set1_epi8('%');
  __m256i found = _mm256_setzero_si256();
  const auto block = [&](size_t at) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at));
    found = _mm256_or_si256(found, _mm256_cmpeq_epi8(bytes, sign));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at), bytes);
  };
  for (size_t at = 0; at + 32 < size; at += 32) block(at);
  block(size - 32);
  return !_mm256_testz_si256(found, found);
}

// Escapes to `to`, which has the exact size.
void escape_pieces(std::string_view path, char *to) {
  for (const char c : path) {
    *to++ = c;
    if (c == '%') {
      memcpy(to, "25", 2);
      to += 2;
    }
  }
}

} // namespace

std::string escape(std::string_view path) {
  std::string escaped;
  bool has_sign = false;
  escaped.resize_and_overwrite(path.size(), [&](char *to, size_t) {
    has_sign = copied(path.data(), path.size(), to);
    return path.size();
  });
  if (__builtin_expect(has_sign, 0)) {
    const auto signs = static_cast<size_t>(std::count(path.begin(), path.end(), '%'));
    const size_t size = path.size() + 2 * signs;
    escaped.clear();
    escaped.resize_and_overwrite(size, [&](char *to, size_t) {
      escape_pieces(path, to);
      return size;
    });
  }
  return escaped;
}
