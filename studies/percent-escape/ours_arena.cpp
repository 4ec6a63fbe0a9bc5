// Ours under the contract "batch": whole blocks of 64 bytes are stored, and the next path
// overwrites what was too much. A path that has a percent sign is done once more, 21 bytes a step.

#include "avx512.h"
#include "escape.h"

void escape_all(const std::string_view *paths, size_t count, char *arena, size_t *ends) {
  const __m512i sign = _mm512_set1_epi8('%');
  char *to = arena;
  for (size_t i = 0; i < count; i++) {
    const char *from = paths[i].data();
    const size_t size = paths[i].size();
    uint64_t found = 0;
    each_block(size, [&](size_t at, __mmask64 mask) {
      const __m512i bytes = _mm512_maskz_loadu_epi8(mask, from + at);
      found |= _mm512_cmpeq_epi8_mask(bytes, sign);
      _mm512_storeu_si512(to + at, bytes);
    });
    if (__builtin_expect(found != 0, 0)) {
      to = escape_dense(from, size, to);
    } else {
      to += size;
    }
    ends[i] = static_cast<size_t>(to - arena);
  }
}
