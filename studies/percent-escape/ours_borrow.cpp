// Ours under the contract "borrow": the search alone.

#include "avx512.h"
#include "escape.h"

namespace {

inline bool has_sign(const char *from, size_t size) {
  const __m512i sign = _mm512_set1_epi8('%');
  uint64_t found = 0;
  each_block(size, [&](size_t at, __mmask64 mask) {
    found |= _mm512_mask_cmpeq_epi8_mask(mask, _mm512_maskz_loadu_epi8(mask, from + at), sign);
  });
  return found != 0;
}

} // namespace

std::string_view escape_or_borrow(std::string_view path, std::string &owned) {
  if (__builtin_expect(!has_sign(path.data(), path.size()), 1)) return path;
  const size_t size = path.size() + 2 * signs_of(path.data(), path.size());
  owned.resize_and_overwrite(size, [&](char *to, size_t) {
    return static_cast<size_t>(escape_dense(path.data(), path.size(), to) - to);
  });
  return owned;
}
