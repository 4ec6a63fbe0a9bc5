// Lists the capacities that a std::string goes through, counts what its allocator is asked for, and
// holds it against the model: with capacities that grow by a factor of b, a string that fills its
// last capacity of N characters has asked for no more than b / (b - 1) * N in all. Ends with 1 if
// that is not so.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static const uint64_t VOLUME = 100000000;

static uint64_t asked_bytes;

template <class T> struct Counting {
  using value_type = T;
  Counting() = default;
  template <class U> Counting(const Counting<U> &) {}
  T *allocate(size_t count) {
    asked_bytes += count * sizeof(T);
    return static_cast<T *>(malloc(count * sizeof(T)));
  }
  void deallocate(T *memory, size_t) { free(memory); }
  bool operator==(const Counting &) const { return true; }
  bool operator!=(const Counting &) const { return false; }
};

// Says how much was asked for next to what the model has, and whether it is so.
static bool fits(const char *name, double factor, uint64_t asked, uint64_t capacity) {
  const double model = factor / (factor - 1);
  const double found = double(asked) / double(capacity);
  const bool holds = found < model * 1.001 && found > model * 0.95;
  printf("%s: factor %.3f, asked for %.3f of the last capacity; the model has %.3f%s\n", name,
         factor, found, model, holds ? "" : ": THAT IS NOT SO");
  return holds;
}

static bool check_string() {
  std::basic_string<char, std::char_traits<char>, Counting<char>> text;
  std::vector<uint64_t> capacities{text.capacity()};
  while (text.size() <= VOLUME) {
    text += "a";
    if (text.capacity() != capacities.back()) capacities.push_back(text.capacity());
  }
  for (const uint64_t capacity : capacities) printf("%llu ", (unsigned long long)capacity);
  printf("\n");
  const double last = double(capacities.back());
  const double factor = last / double(capacities[capacities.size() - 2]);
  return fits("std::string", factor, asked_bytes, capacities.back());
}

// The same for factors that no library here has: memory is asked for, and what is there is moved.
static bool check_factor(double factor) {
  uint64_t capacity = 16, asked = capacity;
  char *text = static_cast<char *>(malloc(capacity));
  for (uint64_t size = 0; size <= VOLUME / 10; size++) {
    if (size == capacity) {
      capacity = uint64_t(std::ceil(double(capacity) * factor));
      asked += capacity;
      char *larger = static_cast<char *>(malloc(capacity));
      memcpy(larger, text, size);
      free(text);
      text = larger;
    }
    text[size] = 'a';
  }
  free(text);
  return fits("any string", factor, asked, capacity);
}

int main() {
  bool holds = check_string();
  for (const double factor : {1.25, 1.5, 2.0, 3.0, 4.0}) holds = check_factor(factor) && holds;
  return holds ? 0 : 1;
}
