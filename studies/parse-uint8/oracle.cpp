// The oracle of this study: makes the strings and says what each contract makes of them.
//
// An input is a list of 8-byte records: 7 bytes of text, or of what happens to follow it in memory,
// and the length. An answer is two hexadecimal digits an item, "--" for what is no number, ".." for
// what the contract does not speak of.

#include "text.h"
#include "tiebreak.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

constexpr int rejected = -1;
constexpr int not_asked = -2;

// What a decimal reading gives: the value of the digits at the start, and how many there are.
struct Reading {
  uint64_t value;
  size_t digits;
};

Reading read(std::string_view text, unsigned largest_digit) {
  Reading reading{0, 0};
  for (const char c : text) {
    const unsigned digit = static_cast<uint8_t>(c) - unsigned{'0'};
    if (static_cast<uint8_t>(c) < '0' || digit > largest_digit) break;
    reading.value = reading.value * 10 + digit;
    reading.digits++;
  }
  return reading;
}

// The published contract: 1 to 3 digits, leading zeros allowed, at most 255.
int strictly(std::string_view text) {
  const Reading reading = read(text, 9);
  const bool is_number = text.size() >= 1 && text.size() <= 3 && reading.digits == text.size();
  return is_number && reading.value <= 255 ? static_cast<int>(reading.value) : rejected;
}

int under(std::string_view contract, std::string_view text) {
  const bool has_length = text.size() >= 1 && text.size() <= 3;
  if (contract == "prefix") {
    const Reading reading = read(text, 9);
    return reading.digits > 0 && reading.value <= 255 ? static_cast<int>(reading.value) : rejected;
  }
  if (contract == "hex-like") {
    const Reading reading = read(text, 15);
    const bool is_number = has_length && reading.digits == text.size() && reading.value <= 255;
    return is_number ? static_cast<int>(reading.value) : rejected;
  }
  if (contract == "modulo") {
    const Reading reading = read(text, 9);
    const bool is_number = has_length && reading.digits == text.size();
    return is_number ? static_cast<int>(reading.value & 255) : rejected;
  }
  if (contract == "unchecked") {
    if (!has_length) return not_asked;
    unsigned value = 0;
    for (const char c : text) value = value * 10 + (static_cast<uint8_t>(c) & 15);
    return static_cast<int>(value & 255);
  }
  if (contract == "batch") {
    return text.find('\n') == text.npos ? strictly(text) : not_asked;
  }
  return strictly(text);
}

// Collects what goes to the sink.
class Buffer {
public:
  explicit Buffer(const tiebreak_sink *sink) : sink_(sink) {}
  void append(const void *bytes, size_t count) {
    if (used_ + count > sizeof(bytes_)) flush();
    memcpy(bytes_ + used_, bytes, count);
    used_ += count;
  }
  void flush() {
    if (used_ > 0) sink_->write(sink_->context, bytes_, used_);
    used_ = 0;
  }

private:
  const tiebreak_sink *sink_;
  size_t used_ = 0;
  char bytes_[1 << 14];
};

// Every string of one length, those of a part: the part's share of all values of the bytes. What
// follows a string in memory varies from item to item, so that a look beyond the end shows.
void all_strings(Buffer &buffer, unsigned length, uint64_t part, uint64_t parts) {
  static const char follows[] = "0\0" "9\xff" "5/:" "1";
  const uint64_t total = uint64_t{1} << (8 * length);
  for (uint64_t i = total * part / parts; i < total * (part + 1) / parts; i++) {
    Record record;
    for (unsigned k = 0; k < sizeof(record.text); k++) {
      record.text[k] = k < length ? static_cast<char>(i >> (8 * k)) : follows[(i + k) & 7];
    }
    record.length = static_cast<uint8_t>(length);
    buffer.append(&record, sizeof(record));
  }
}

// The numbers 0 to 255 as std::to_string writes them, with nothing but zeros after them.
std::array<Record, 256> written() {
  std::array<Record, 256> records{};
  for (unsigned value = 0; value < records.size(); value++) {
    char text[8] = {};
    const int length = snprintf(text, sizeof(text), "%u", value);
    memcpy(records[value].text, text, static_cast<size_t>(length));
    records[value].length = static_cast<uint8_t>(length);
  }
  return records;
}

void numbers(Buffer &buffer, uint64_t size, bool is_random, uint64_t seed) {
  static const std::array<Record, 256> records = written();
  for (uint64_t i = 0; i < size; i++) {
    const uint64_t value = is_random ? tiebreak_random(&seed) >> 56 : i % 256;
    buffer.append(&records[value], sizeof(Record));
  }
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  const std::string_view distribution = request->distribution;
  Buffer buffer(sink);
  if (distribution == "random" || distribution == "sequential") {
    numbers(buffer, request->size, distribution == "random", request->seed);
  } else if (distribution == "up-to-length" || distribution == "of-length") {
    const auto last = static_cast<unsigned>(request->size);
    const unsigned first = distribution == "of-length" ? last : 0;
    for (unsigned length = first; length <= last; length++) {
      all_strings(buffer, length, request->part, request->parts);
    }
  } else {
    return 1;
  }
  buffer.flush();
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *, uint64_t input_bytes) {
  return input_bytes / sizeof(Record);
}

int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
           const tiebreak_sink *sink, uint64_t *checksum) {
  static const char digits[] = "0123456789abcdef";
  const std::string_view contract = request->contract;
  Buffer buffer(sink);
  uint64_t sum = 0;
  for (uint64_t at = 0; at + sizeof(Record) <= input_bytes; at += sizeof(Record)) {
    Record record;
    memcpy(&record, input + at, sizeof(record));
    const int value = under(contract, {record.text, record.length});
    char line[3] = {'-', '-', '\n'};
    if (value >= 0) {
      line[0] = digits[value >> 4];
      line[1] = digits[value & 15];
      sum += static_cast<uint64_t>(value);
    } else if (value == not_asked) {
      line[0] = line[1] = '.';
    } else {
      sum += uint64_t{1} << 32;
    }
    buffer.append(line, sizeof(line));
  }
  buffer.flush();
  *checksum = sum;
  return 0;
}

} // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
