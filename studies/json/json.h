// What the contestants of this study that are C++ share, with its oracle: the input, the four
// answers, their checksums and how they are written.
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "tiebreak.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// An input is the name of a task in 64 bytes, a document, and 64 bytes of zero: simdjson reads that
// far past its end, and RapidJSON ends at a zero. The source's benchmark gives all of them as much.
constexpr size_t margin = 64;
constexpr std::string_view tasks[] = {
    "json2msgpack", "partial_tweets", "distinct_user_id", "kostya"};

// The document of a contestant's input. What follows it is known to be readable and zero.
inline std::string_view document_of(const uint8_t *input, uint64_t input_bytes) {
  return {reinterpret_cast<const char *>(input + margin), input_bytes - 2 * margin};
}

struct Tweet {
  std::string_view created_at;
  uint64_t id;
  std::string_view text;
  uint64_t in_reply_to_status_id; // 0 for null
  uint64_t user_id;
  std::string_view screen_name;
  uint64_t retweet_count;
  uint64_t favorite_count;
};

struct Point {
  double x, y, z;
};

// MessagePack as the source writes it: lengths always take 32 bits, and each number is a double.
// Unlike the source's it has the order of bytes that MessagePack asks for.
class MessagePack {
public:
  explicit MessagePack(uint8_t *bytes) : start_(bytes), at_(bytes) {}

  void null() { *at_++ = 0xc0; }
  void boolean(bool value) { *at_++ = value ? 0xc3 : 0xc2; }
  void number(double value) {
    *at_++ = 0xcb;
    put(std::bit_cast<uint64_t>(value));
  }
  void string(std::string_view value) {
    head(0xdb, value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  void array(size_t count) { head(0xdd, count); }
  void object(size_t count) { head(0xdf, count); }

  // Of an array, an object or a string whose length is known later: `begin`, what is in it, `end`.
  uint8_t *begin(uint8_t kind) {
    head(kind, 0);
    return at_;
  }
  static void end(uint8_t *begun, size_t count) {
    const uint32_t length = __builtin_bswap32(static_cast<uint32_t>(count));
    std::memcpy(begun - sizeof(length), &length, sizeof(length));
  }
  // Where the next byte goes: a library that unescapes writes there and moves it.
  uint8_t *&at() { return at_; }

  std::string_view bytes() const {
    return {reinterpret_cast<const char *>(start_), static_cast<size_t>(at_ - start_)};
  }

private:
  void put(uint64_t word) {
    word = __builtin_bswap64(word);
    std::memcpy(at_, &word, sizeof(word));
    at_ += sizeof(word);
  }
  void head(uint8_t kind, size_t length) {
    *at_ = kind;
    at_ += 1 + sizeof(uint32_t);
    end(at_, length);
  }

  uint8_t *start_;
  uint8_t *at_;
};

// The answer to one input. The vectors keep their memory from run to run, as in the source.
struct Answer {
  std::string_view msgpack;
  std::vector<Tweet> tweets;
  std::vector<uint64_t> user_ids; // as they come; they are sorted when they are written
  std::vector<Point> points;

  void clear() {
    msgpack = {};
    tweets.clear();
    user_ids.clear();
    points.clear();
  }
};

// Depends on every number and on every length. Of MessagePack it has the length, and 8 bytes in
// 512; the whole of it is compared where `dump` gives it.
inline uint64_t checksum_of(const Answer &answer) {
  uint64_t sum = answer.msgpack.size();
  for (size_t at = 0; at + sizeof(uint64_t) <= answer.msgpack.size(); at += 512) {
    uint64_t word;
    std::memcpy(&word, answer.msgpack.data() + at, sizeof(word));
    sum += word;
  }
  for (const Tweet &tweet : answer.tweets) {
    sum += tweet.id + tweet.in_reply_to_status_id + tweet.user_id + tweet.retweet_count +
           tweet.favorite_count + tweet.created_at.size() + tweet.text.size() +
           tweet.screen_name.size();
  }
  for (const uint64_t id : answer.user_ids) sum += id;
  for (const Point &point : answer.points) {
    sum += std::bit_cast<uint64_t>(point.x) + std::bit_cast<uint64_t>(point.y) +
           std::bit_cast<uint64_t>(point.z);
  }
  return sum;
}

// Writes lines: 32 bytes of MessagePack as hexadecimal digits, a tweet, an identity, or the bits of
// a point.
inline void write_answer(const tiebreak_sink *sink, Answer &answer) {
  std::string text;
  const auto hexadecimal = [&](uint64_t value, int digits) {
    while (digits-- > 0) text += "0123456789abcdef"[value >> (4 * digits) & 15];
  };
  const auto string = [&](std::string_view value) {
    for (const char c : value) hexadecimal(static_cast<uint8_t>(c), 2);
    text += ' ';
  };
  const auto number = [&](uint64_t value, char end) { (text += std::to_string(value)) += end; };
  for (size_t at = 0; at < answer.msgpack.size(); at++) {
    hexadecimal(static_cast<uint8_t>(answer.msgpack[at]), 2);
    if (at % 32 == 31 || at + 1 == answer.msgpack.size()) text += '\n';
  }
  for (const Tweet &tweet : answer.tweets) {
    string(tweet.created_at);
    number(tweet.id, ' ');
    string(tweet.text);
    number(tweet.in_reply_to_status_id, ' ');
    number(tweet.user_id, ' ');
    string(tweet.screen_name);
    number(tweet.retweet_count, ' ');
    number(tweet.favorite_count, '\n');
  }
  std::sort(answer.user_ids.begin(), answer.user_ids.end());
  uint64_t before = 0;
  for (const uint64_t id : answer.user_ids) {
    if (id != before) number(before = id, '\n');
  }
  for (const Point &point : answer.points) {
    hexadecimal(std::bit_cast<uint64_t>(point.x), 16);
    text += ' ';
    hexadecimal(std::bit_cast<uint64_t>(point.y), 16);
    text += ' ';
    hexadecimal(std::bit_cast<uint64_t>(point.z), 16);
    text += '\n';
  }
  sink->write(sink->context, text.data(), text.size());
}

#endif
