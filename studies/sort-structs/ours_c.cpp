// Ours on the struct of the C program, a number and a pointer to a string elsewhere:
//
//   sort the structs themselves by number, least significant digit first
//   sort what ties, having asked for the strings 48 structs ahead: each is a cache miss, and the
//   time of the source's program is mostly waiting for them one by one
//
// A list that is sorted already is left alone, one whose numbers ascend is not moved. More memory
// than qsort: twice the list, taken and given back within the timed call.

#include "c_list.h"
#include "radix.h"

namespace {

std::string_view text_of(const Foo &foo) { return foo.s; }

void move_to_order(Foo *foos, size_t count, const Numbers &numbers) {
  Room<Foo> room(count);
  memcpy(room.get(), foos, count * sizeof(Foo));
  const auto smallest = static_cast<uint32_t>(numbers.smallest);
  radix_sort(room, count, numbers.bits,
             [smallest](const Foo &foo) { return static_cast<uint32_t>(foo.i) - smallest; });
  memcpy(foos, room.get(), count * sizeof(Foo));
}

// Sorts each run of equal numbers in a list that is sorted by them.
void sort_ties(Foo *foos, size_t count) {
  constexpr size_t ahead = 48;
  // Only strings of ties are looked at.
  const auto fetch = [=](size_t k) {
    if (k + 1 >= count) return;
    if (foos[k].i != foos[k + 1].i) return;
    __builtin_prefetch(foos[k].s);
    __builtin_prefetch(foos[k + 1].s);
  };
  for (size_t k = 0; k < ahead; k++) fetch(k);
  for (size_t start = 0, end; start < count; start = end) {
    end = start;
    do fetch(end++ + ahead);
    while (end < count && foos[end].i == foos[start].i);
    if (end - start > 1) sort_by_text(foos + start, end - start, text_of);
  }
}

bool is_before(const Foo &left, const Foo &right) {
  return left.i != right.i ? left.i < right.i : strcmp(left.s, right.s) < 0;
}

uint64_t run(void *opaque) {
  auto *list = static_cast<List *>(opaque);
  Foo *foos = list->foos;
  if (!std::is_sorted(foos, foos + list->count, is_before)) {
    const Numbers numbers = look_at(foos, list->count);
    if (!numbers.are_sorted) move_to_order(foos, list->count, numbers);
    sort_ties(foos, list->count);
  }
  return list_checksum(list);
}

} // namespace

TIEBREAK_CONTESTANT_WITH("ours-c", "bmi2,sse4_1", TIEBREAK_ALLOCATES, 0u, 0u, 0u, list_prepare, list_reset,
                         run, list_dump, list_release);
