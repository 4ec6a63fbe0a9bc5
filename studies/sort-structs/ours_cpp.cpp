// Ours on the struct of the C++ program, 40 bytes with the string inside:
//
//   sort (number, place) by number: 8 bytes an element, least significant digit first
//   fetch the structs in that order, a few cache misses ahead, into new memory
//   sort what ties: the strings now stand side by side
//
// A list that is sorted already is left alone, one whose numbers ascend is not moved. More memory
// than std::sort: another list and 16 bytes a struct, taken and given back within the timed call.

#include "cpp_list.h"
#include "radix.h"

namespace {

struct Place {
  uint32_t number; // less the smallest
  uint32_t place;
};

std::string_view text_of(const Foo &foo) { return foo.s; }

void move_to_order(std::vector<Foo> &foos, const Numbers &numbers) {
  const size_t count = foos.size();
  Room<Place> places(count);
  for (size_t k = 0; k < count; k++) {
    const auto number =
        static_cast<uint32_t>(foos[k].i) - static_cast<uint32_t>(numbers.smallest);
    places.get()[k] = {number, static_cast<uint32_t>(k)};
  }
  radix_sort(places, count, numbers.bits, [](const Place &place) { return place.number; });
  constexpr size_t ahead = 64;
  std::vector<Foo> sorted;
  sorted.reserve(count);
  ask_for_huge_pages(sorted.data(), count * sizeof(Foo));
  for (size_t k = 0; k < count; k++) {
    if (k + ahead < count) {
      const auto *next = reinterpret_cast<const char *>(&foos[places.get()[k + ahead].place]);
      __builtin_prefetch(next, 1);
      __builtin_prefetch(next + sizeof(Foo) - 1, 1);
    }
    sorted.push_back(std::move(foos[places.get()[k].place]));
  }
  foos.swap(sorted);
}

// Sorts what ties in a list that is sorted by its numbers. That neighbours tie is as good as a
// coin's word where the numbers are drawn at random; that they tie and differ in their strings is
// rare, and therefore what is branched on.
void sort_ties(Foo *foos, size_t count) {
  for (size_t k = 1; k < count; k++) {
    const bool ties = foos[k - 1].i == foos[k].i;
    if (!(ties & !are_surely_equal(foos[k - 1].s, foos[k].s))) continue;
    size_t start = k - 1;
    while (start > 0 && foos[start - 1].i == foos[k].i) start--;
    while (k < count && foos[k].i == foos[start].i) k++;
    sort_by_text(foos + start, k - start, text_of);
  }
}

uint64_t run(void *opaque) {
  auto *list = static_cast<List *>(opaque);
  auto &foos = list->foos;
  if (!std::is_sorted(foos.begin(), foos.end())) {
    const Numbers numbers = look_at(foos.data(), foos.size());
    if (!numbers.are_sorted) move_to_order(foos, numbers);
    sort_ties(foos.data(), foos.size());
  }
  return list_checksum(*list);
}

} // namespace

TIEBREAK_CONTESTANT_WITH("ours-cpp", "bmi2,sse4_1", TIEBREAK_ALLOCATES, 0u, 0u, 0u, list_prepare,
                         list_reset, run, list_dump, list_release);
