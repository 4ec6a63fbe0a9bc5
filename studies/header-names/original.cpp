// The original lookup in C++, and all around it: a view, then a table of both spellings.
#include "names.h"
#include "tiebreak.h"

#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

struct Header {
  std::string name, value;
};

// A header as it was found: sets are short, so they are looked through.
struct Found {
  std::string name;
  std::vector<std::string> values;
};

struct Race {
  std::vector<std::vector<Header>> sets;
  std::vector<std::vector<Found>> results;
  uint32_t sum = 0;

  // One step of the checksum, of 32 bits (FNV-1a).
  void mix(uint32_t part) { sum = (sum ^ part) * 16777619u; }
};

constexpr size_t kEndOfSet = 0xffff;

// As Latin-1, a byte a letter.
std::string lowered(std::string_view name) {
  std::string lower(name);
  for (char &letter : lower) {
    const unsigned char c = static_cast<unsigned char>(letter);
    const bool isUpper = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
    if (isUpper) letter = static_cast<char>(c + 32);
  }
  return lower;
}

const std::unordered_map<std::string, std::string> &known() {
  static const auto names = [] {
    std::unordered_map<std::string, std::string> names;
    for (const char *name : kNames) names[name] = names[lowered(name)] = lowered(name);
    return names;
  }();
  return names;
}

std::string lookup(const std::string &name) {
  const auto &names = known();
  const auto found = names.find(name);
  return found == names.end() ? lowered(name) : found->second;
}

// Two lengths of 16 bits and the bytes of a name and a value; a name length of 0xffff ends a set.
void *prepare(const tiebreak_workload *workload) {
  Race *race = new Race;
  const uint8_t *input = workload->input;
  const auto length = [&](size_t at) { return size_t{input[at]} | size_t{input[at + 1]} << 8; };
  std::vector<Header> set;
  for (size_t at = 0; at + 1 < workload->input_bytes;) {
    const size_t name = length(at);
    if (name == kEndOfSet) {
      race->sets.push_back(std::move(set));
      set = {};
      at += 2;
      continue;
    }
    const size_t value = length(at + 2);
    const char *from = reinterpret_cast<const char *>(input) + at + 4;
    // Each in memory of its own, as if it had come from a socket.
    set.push_back({std::string(from, name), std::string(from + name, value)});
    at += 4 + name + value;
  }
  race->results.resize(race->sets.size());
  known();
  return race;
}

std::vector<Found> parse(Race &race, const std::vector<Header> &headers) {
  std::vector<Found> all;
  all.reserve(headers.size());
  size_t length = SIZE_MAX, disposition = SIZE_MAX;
  for (const Header &header : headers) {
    std::string name = lookup(header.name);
    std::string value = header.value;
    const uint32_t letter = static_cast<unsigned char>(name[name.size() >> 1]);
    race.mix(static_cast<uint32_t>(name.size() << 16 | value.size() << 8) | letter);
    size_t at = 0;
    while (at < all.size() && all[at].name != name) at++;
    if (at < all.size()) {
      all[at].values.push_back(std::move(value));
      continue;
    }
    if (name == "content-length") length = at;
    if (name == "content-disposition") disposition = at;
    all.push_back({std::move(name), {}});
    all.back().values.push_back(std::move(value));
  }
  if (length != SIZE_MAX && disposition != SIZE_MAX) {
    std::vector<std::string> &values = all[disposition].values;
    std::string text = values[0];
    // As undici does it: a byte for each value, 0 for what is no number.
    if (values.size() > 1) text = std::string(values.size(), '\0');
    values = {text};
    race.mix(static_cast<uint32_t>(text.size() << 8) | static_cast<unsigned char>(text[0]));
  }
  return all;
}

uint64_t run(void *state) {
  Race &race = *static_cast<Race *>(state);
  race.sum = 0;
  for (size_t i = 0; i < race.sets.size(); i++) race.results[i] = parse(race, race.sets[i]);
  return race.sum;
}

// Printable ASCII as it is, anything else and '%' as %XX.
void show(std::string &out, const std::string &text) {
  const char *const digits = "0123456789abcdef";
  for (const unsigned char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += static_cast<char>(c);
    } else {
      out += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
}

void dump(void *state, const tiebreak_sink *sink) {
  const Race &race = *static_cast<Race *>(state);
  for (size_t i = 0; i < race.results.size(); i++) {
    for (const Found &found : race.results[i]) {
      std::string line = std::to_string(i + 1) + "\t";
      show(line, found.name);
      for (const std::string &value : found.values) show(line += "\t", value);
      line += "\n";
      sink->write(sink->context, line.data(), line.size());
    }
  }
}

void release(void *state) { delete static_cast<Race *>(state); }

}  // namespace

TIEBREAK_CONTESTANT_WITH("original-cpp", "", TIEBREAK_ALLOCATES, 0u, 0u, 0u, prepare, 0, run, dump,
                         release);
