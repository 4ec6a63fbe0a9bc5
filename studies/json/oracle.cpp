// The oracle of this study: makes the documents and knows the answers, by a parser of its own.
//
// A distribution is the name of a task; "odd-" before it asks for what is rare in the published
// documents: escapes, surrogates, deep nesting, empty and large values, other white space.

#include "documents.h"
#include "json.h"

#include <charconv>
#include <deque>
#include <utility>

namespace {

// A value of a document. A number is its text.
struct Value {
  char kind = 'n'; // one of { [ " 0 t f n
  std::string text;
  std::vector<std::pair<std::string, Value>> members; // of an array without names

  const Value &operator[](std::string_view name) const {
    for (const auto &[key, value] : members) {
      if (key == name) return value;
    }
    static const Value null;
    return null;
  }
  template <class Number> Number as() const {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
};

// Reads documents that are known to be right.
class Parser {
public:
  explicit Parser(std::string_view json) : json_(json) {}

  Value value() {
    Value value;
    switch (next()) {
    case '{':
    case '[': {
      value.kind = json_[at_++];
      while (next() != '}' && next() != ']') {
        std::string name;
        if (value.kind == '{') {
          name = string();
          next();
          at_++; // the colon
        }
        value.members.emplace_back(std::move(name), this->value());
        if (next() == ',') at_++;
      }
      at_++;
      break;
    }
    case '"':
      value.kind = '"';
      value.text = string();
      break;
    default: {
      const size_t end = std::min(json_.find_first_of(" \t\n\r,]}", at_), json_.size());
      value.text = json_.substr(at_, end - at_);
      const char first = value.text[0];
      value.kind = first == 't' || first == 'f' || first == 'n' ? first : '0';
      at_ = end;
    }
    }
    return value;
  }

private:
  char next() {
    while (json_[at_] == ' ' || json_[at_] == '\t' || json_[at_] == '\n' || json_[at_] == '\r') {
      at_++;
    }
    return json_[at_];
  }

  uint32_t digits() {
    uint32_t unit = 0;
    std::from_chars(json_.data() + at_, json_.data() + at_ + 4, unit, 16);
    at_ += 4;
    return unit;
  }

  std::string string() {
    std::string text;
    at_++;
    while (json_[at_] != '"') {
      if (json_[at_] != '\\') {
        text += json_[at_++];
        continue;
      }
      at_++;
      const char escaped = json_[at_++];
      constexpr std::string_view names = "bfnrt", meant = "\b\f\n\r\t";
      if (escaped == 'u') {
        uint32_t character = digits();
        if (character >= 0xd800 && character < 0xdc00) {
          at_ += 2; // the 'u' of the second half
          character = 0x10000 + ((character - 0xd800) << 10) + (digits() - 0xdc00);
        }
        append_utf8(text, character);
      } else if (const size_t name = names.find(escaped); name != names.npos) {
        text += meant[name];
      } else {
        text += escaped;
      }
    }
    at_++;
    return text;
  }

  std::string_view json_;
  size_t at_ = 0;
};

void write_msgpack(const Value &value, MessagePack &msgpack) {
  switch (value.kind) {
  case '{':
  case '[':
    value.kind == '{' ? msgpack.object(value.members.size()) : msgpack.array(value.members.size());
    for (const auto &[name, child] : value.members) {
      if (value.kind == '{') msgpack.string(name);
      write_msgpack(child, msgpack);
    }
    break;
  case '"': msgpack.string(value.text); break;
  case '0': msgpack.number(value.as<double>()); break;
  case 'n': msgpack.null(); break;
  default: msgpack.boolean(value.kind == 't'); break;
  }
}

std::string_view task_of(std::string_view distribution) {
  if (distribution.starts_with("odd-")) distribution.remove_prefix(4);
  for (const std::string_view task : tasks) {
    if (distribution == task) return task;
  }
  // Documents with names that occur twice, or with numbers of many digits.
  return distribution == "duplicates" || distribution == "digits" ? tasks[0] : "";
}

int generate(const tiebreak_request *request, const tiebreak_sink *sink) {
  const std::string_view task = task_of(request->distribution);
  if (task.empty()) return 1;
  std::string input(task);
  input.resize(margin, ' ');
  input += document(request->distribution, request->size, request->seed + request->part);
  input.append(margin, '\0');
  sink->write(sink->context, input.data(), input.size());
  return 0;
}

uint64_t items(const tiebreak_request *, const uint8_t *input, uint64_t input_bytes) {
  return document_of(input, input_bytes).size();
}

int answer(const tiebreak_request *request, const uint8_t *input, uint64_t input_bytes,
           const tiebreak_sink *sink, uint64_t *checksum) {
  const std::string_view task = task_of(request->distribution);
  const Value root = Parser(document_of(input, input_bytes)).value();
  const auto msgpack_bytes = std::make_unique<uint8_t[]>(4 * input_bytes + 1024);
  Answer answer;
  if (task == "json2msgpack") {
    MessagePack msgpack(msgpack_bytes.get());
    write_msgpack(root, msgpack);
    answer.msgpack = msgpack.bytes();
  }
  for (const auto &[_, tweet] : root["statuses"].members) {
    const Value &user = tweet["user"], &retweet = tweet["retweeted_status"];
    if (task == "partial_tweets") {
      answer.tweets.push_back({tweet["created_at"].text, tweet["id"].as<uint64_t>(),
                               tweet["text"].text, tweet["in_reply_to_status_id"].as<uint64_t>(),
                               user["id"].as<uint64_t>(), user["screen_name"].text,
                               tweet["retweet_count"].as<uint64_t>(),
                               tweet["favorite_count"].as<uint64_t>()});
    } else if (task == "distinct_user_id") {
      answer.user_ids.push_back(user["id"].as<uint64_t>());
      if (retweet.kind == '{') answer.user_ids.push_back(retweet["user"]["id"].as<uint64_t>());
    }
  }
  if (task == "kostya") {
    for (const auto &[_, point] : root["coordinates"].members) {
      answer.points.push_back(
          {point["x"].as<double>(), point["y"].as<double>(), point["z"].as<double>()});
    }
  }
  *checksum = checksum_of(answer);
  write_answer(sink, answer);
  return 0;
}

} // namespace

TIEBREAK_ORACLE(generate, items, nullptr, answer);
