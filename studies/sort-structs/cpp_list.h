// The list of the contestants that sort the struct of the source's C++ program: a number and a
// std::string, which keeps up to 15 characters within itself.
#ifndef SORT_STRUCTS_CPP_LIST_H
#define SORT_STRUCTS_CPP_LIST_H

#include "answer.h"

#include <new>
#include <string>
#include <vector>

struct Foo {
  int i;
  std::string s;

  bool operator<(const Foo &other) const noexcept {
    return i == other.i ? s < other.s : i < other.i;
  }
};

struct List {
  std::vector<Foo> unsorted;
  std::vector<Foo> foos;
};

inline void *list_prepare(const tiebreak_workload *workload) try {
  auto *list = new List;
  for (uint64_t k = 0; k < workload->items; k++) {
    int32_t pair[2];
    memcpy(pair, workload->input + 8 * k, sizeof(pair));
    using namespace std::string_literals;
    const auto inner = static_cast<uint32_t>(pair[1]);
    list->unsorted.push_back({pair[0], "foo"s + std::to_string(inner) + "foo"s});
  }
  list->unsorted.shrink_to_fit();
  list->foos = list->unsorted;
  return list;
} catch (const std::bad_alloc &) {
  return nullptr;
}

inline void list_reset(void *opaque) {
  auto *list = static_cast<List *>(opaque);
  list->foos = list->unsorted;
}

inline uint64_t list_checksum(const List &list) {
  uint64_t sum = CHECKSUM_START;
  const uint64_t count = list.foos.size();
  for (uint64_t k = 0; k <= CHECKSUM_PLACES && count > 0; k++) {
    const Foo &foo = list.foos[checksum_place(k, count)];
    sum = checksum_add(sum, foo.i, foo.s.data(), foo.s.size());
  }
  return sum;
}

inline void list_dump(void *opaque, const tiebreak_sink *sink) {
  for (const Foo &foo : static_cast<const List *>(opaque)->foos) {
    write_line(sink, foo.i, foo.s.c_str());
  }
}

inline void list_release(void *opaque) { delete static_cast<List *>(opaque); }

#endif
