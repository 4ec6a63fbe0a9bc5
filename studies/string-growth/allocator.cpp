// As published, with the memory of another allocator: ALLOCATE(bytes) and RELEASE(pointer).
#include "growth.h"
#include ALLOCATOR
#include <new>
#include <string>

template <class T> struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U> Allocator(const Allocator<U> &) {}
  T *allocate(size_t count) {
    void *memory = ALLOCATE(count * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T *>(memory);
  }
  void deallocate(T *memory, size_t) { RELEASE(memory); }
  bool operator==(const Allocator &) const { return true; }
};

static void grow(uint64_t volume, const Look &look) {
  std::basic_string<char, std::char_traits<char>, Allocator<char>> text;
  while (text.size() <= volume) text += "a";
  look(text.data(), text.size());
}
