// Inputs of raw headers, and the objects that they become. It knows no names for its answers: a
// name that is recognised and one that is not both become their bytes as Latin-1 in lower case.
#include "names.h"
#include "tiebreak.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

// Nine answers of servers as they are in the wild, 48 headers; nullptr ends a set. One is shouted,
// one is in lower case as HTTP/2 has it, three names are not well known.
const char *const kSets[] = {
    "Content-Type", "Content-Length", "Date", "Server", nullptr,
    "Content-Type", "Transfer-Encoding", "Connection", "Keep-Alive", "Vary", "Date", nullptr,
    "content-type", "content-length", "cache-control", "etag", "date", "via", nullptr,
    "CONTENT-TYPE", "CONTENT-LENGTH", "ACCEPT-RANGES", "LAST-MODIFIED", "DATE", nullptr,
    "Location", "Set-Cookie", "Set-Cookie", "Content-Length", "Date", nullptr,
    "Content-Type", "Content-Disposition", "Content-Length", "X-Request-Id", "Date", nullptr,
    "Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Max-Age",
    "Content-Type", "Date", "CF-Ray", nullptr,
    "Strict-Transport-Security", "X-Frame-Options", "X-Content-Type-Options", "Content-Type",
    "Content-Encoding", "Date", nullptr,
    "Content-Type", "Age", "Expires", "Cache-Control", "X-Cache", nullptr};

struct Headers {
  std::string bytes;

  void add(const std::string &name, const std::string &value) {
    length(name.size());
    length(value.size());
    bytes += name;
    bytes += value;
  }

  void endSet() { length(0xffff); }

 private:
  void length(size_t count) {
    bytes += static_cast<char>(count & 0xff);
    bytes += static_cast<char>(count >> 8);
  }
};

// It begins with a letter in lower case, so it is no number in JavaScript.
std::string randomValue(uint64_t &state) {
  std::string value(1 + tiebreak_random(&state) % 40, ' ');
  for (char &c : value) c = static_cast<char>('!' + tiebreak_random(&state) % 94);
  value[0] = static_cast<char>('a' + tiebreak_random(&state) % 26);
  return value;
}

unsigned char lower(unsigned char c) {
  const bool isUpper = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
  return isUpper ? static_cast<unsigned char>(c + 32) : c;
}

bool isLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string lowered(std::string text) {
  for (char &c : text) c = static_cast<char>(lower(static_cast<unsigned char>(c)));
  return text;
}

// The name with the letters in upper case whose bit in the mask is set.
std::string masked(const std::string &name, uint64_t mask) {
  std::string text = lowered(name);
  int letters = 0;
  for (char &c : text) {
    if (!isLetter(c)) continue;
    if (mask >> (letters++ % 64) & 1) c = static_cast<char>(c - 32);
  }
  return text;
}

void sets(Headers &out, uint64_t seed) {
  for (const char *name : kSets) {
    if (name == nullptr) {
      out.endSet();
    } else {
      out.add(name, randomValue(seed));
    }
  }
}

std::string mixedName(uint64_t &state) {
  const uint64_t kind = tiebreak_random(&state) % 10;
  if (kind == 0) return "X-Trace-" + std::to_string(tiebreak_random(&state) % 1000);
  const std::string name = kNames[tiebreak_random(&state) % kNameCount];
  if (kind <= 6) return name;
  return kind <= 8 ? lowered(name) : masked(name, tiebreak_random(&state));
}

void mixed(Headers &out, uint64_t count, uint64_t seed) {
  uint64_t left = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (left == 0) left = 2 + tiebreak_random(&seed) % 9;
    out.add(mixedName(seed), randomValue(seed));
    if (--left == 0 || i + 1 == count) {
      out.endSet();
      left = 0;
    }
  }
}

void alone(Headers &out, const std::string &name) {
  out.add(name, "v");
  out.endSet();
}

// Each name in every mixture of cases, or in `most` of them drawn at random.
void masks(Headers &out, uint64_t most) {
  uint64_t state = 1;
  for (const char *name : kNames) {
    uint64_t letters = 0;
    for (const char *c = name; *c != 0; c++) letters += isLetter(*c);
    const bool isAll = letters < 63 && (uint64_t{1} << letters) <= most;
    const uint64_t count = isAll ? uint64_t{1} << letters : most;
    for (uint64_t i = 0; i < count; i++) {
      alone(out, masked(name, isAll ? i : tiebreak_random(&state)));
    }
  }
}

// Each name with each byte changed to each other value: one name in `parts` of each part.
void mutations(Headers &out, uint64_t part, uint64_t parts) {
  for (size_t which = part; which < kNameCount; which += parts) {
    for (size_t at = 0; kNames[which][at] != 0; at++) {
      for (int byte = 0; byte < 256; byte++) {
        std::string name = kNames[which];
        name[at] = static_cast<char>(byte);
        alone(out, name);
      }
    }
  }
}

// Each name cut off everywhere, with a byte of any value after it, and with one before it.
void lengths(Headers &out) {
  for (const char *each : kNames) {
    const std::string name = each;
    for (size_t length = 1; length < name.size(); length++) alone(out, name.substr(0, length));
    for (int byte = 0; byte < 256; byte++) {
      alone(out, name + static_cast<char>(byte));
      alone(out, static_cast<char>(byte) + name);
    }
  }
}

// A record of the input, or the end of a set.
struct Record {
  bool isEnd;
  std::string name, value;
};

std::vector<Record> records(const uint8_t *input, uint64_t count) {
  std::vector<Record> found;
  const auto word = [&](uint64_t at) { return size_t{input[at]} | size_t{input[at + 1]} << 8; };
  for (uint64_t at = 0; at + 1 < count;) {
    const size_t name = word(at);
    if (name == 0xffff) {
      found.push_back({true, "", ""});
      at += 2;
      continue;
    }
    const size_t value = word(at + 2);
    const char *text = reinterpret_cast<const char *>(input) + at + 4;
    found.push_back({false, std::string(text, name), std::string(text + name, value)});
    at += 4 + name + value;
  }
  return found;
}

std::string shown(const std::string &text) {
  std::string out;
  for (const unsigned char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += static_cast<char>(c);
      continue;
    }
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02x", c);
    out += hex;
  }
  return out;
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  Headers out;
  const std::string distribution = request->distribution;
  if (distribution == "sets") {
    sets(out, request->seed);
  } else if (distribution == "mixed") {
    mixed(out, request->size, request->seed);
  } else if (distribution == "masks") {
    masks(out, request->size);
  } else if (distribution == "mutations") {
    mutations(out, request->part, request->parts);
  } else if (distribution == "lengths") {
    lengths(out);
  } else {
    return 1;
  }
  sink->write(sink->context, out.bytes.data(), out.bytes.size());
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *input, uint64_t count) {
  uint64_t headers = 0;
  for (const Record &record : records(input, count)) headers += !record.isEnd;
  return headers;
}

// One step of the checksum, of 32 bits (FNV-1a).
void mix(uint64_t &checksum, size_t part) {
  checksum = (checksum ^ static_cast<uint32_t>(part)) * 16777619 & 0xffffffff;
}

// A set of headers as the contestants' objects have it.
struct Set {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;

  void add(const std::string &name, const std::string &value) {
    if (values.find(name) == values.end()) order.push_back(name);
    values[name].push_back(value);
  }

  // Where a length is known, the disposition is read anew. One that came twice is an array then, of
  // which undici makes a byte for each value: 0, since no value of ours is a number.
  void finish(uint64_t &checksum) {
    const auto disposition = values.find("content-disposition");
    if (disposition == values.end() || values.find("content-length") == values.end()) return;
    std::vector<std::string> &found = disposition->second;
    if (found.size() > 1) found = {std::string(found.size(), '\0')};
    const std::string &text = found[0];
    mix(checksum, text.size() << 8 | static_cast<unsigned char>(text[0]));
  }
};

int answer(const tiebreak_request *, const uint8_t *input, uint64_t count,
           const tiebreak_sink *sink, uint64_t *checksum) {
  Set set;
  uint64_t number = 1;
  *checksum = 0;
  for (const Record &record : records(input, count)) {
    if (!record.isEnd) {
      const std::string name = lowered(record.name);
      set.add(name, record.value);
      const unsigned char letter = static_cast<unsigned char>(name[name.size() / 2]);
      mix(*checksum, name.size() << 16 | record.value.size() << 8 | letter);
      continue;
    }
    set.finish(*checksum);
    for (const std::string &name : set.order) {
      std::string line = std::to_string(number) + "\t" + shown(name);
      for (const std::string &value : set.values[name]) line += "\t" + shown(value);
      line += "\n";
      sink->write(sink->context, line.data(), line.size());
    }
    set = Set();
    number++;
  }
  return 0;
}

}  // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
