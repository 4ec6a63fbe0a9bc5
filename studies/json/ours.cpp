// Ours: the two tasks that read a part of each tweet, without an index of the document's tokens.
//
// A walk reads objects member by member, and leaves out the values that it is not asked for: a
// string by the outline's bits, an object or array by its floors, 8 blocks at once. When it has all
// that an object was asked for it leaves out the rest. That brackets alone tell where to go on is
// of Jiang and Zhao 2022, "JSONSki".

#include "outline.h"

#include <charconv>

namespace {

// White space by the lower half of its byte.
constinit const volatile Vector spaces =
    twice({' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r'});
// What ends a number or a literal besides white space, all with bit 5 set: a quote, ,:{}[] and the
// zeros behind the document.
constinit const volatile Vector ends =
    twice({' ', 0, '"', 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}'});

inline __m256i is_in(__m256i bytes, const volatile Vector &table) {
  return _mm256_cmpeq_epi8(bytes, look_up(table, bytes));
}

inline const char *after_space(const char *at) {
  for (;; at += 32) {
    const uint32_t other = ~bits(is_in(load(at), spaces));
    if (other) return at + std::countr_zero(other);
  }
}

inline const char *token_end(const char *at) {
  for (;; at += 32) {
    const __m256i bytes = load(at);
    const __m256i end = is_in(_mm256_or_si256(bytes, all<0x20>()), ends);
    const uint32_t found = bits(_mm256_or_si256(end, is_in(bytes, spaces)));
    if (found) return at + std::countr_zero(found);
  }
}

// Gives the first backslash before `end`, or `end`.
inline const char *backslash(const char *at, const char *end) {
  for (; at < end; at += 32) {
    const uint32_t found = bits(equal<'\\'>(load(at)));
    if (found) return std::min(at + std::countr_zero(found), end);
  }
  return end;
}

// Where strings with escapes go, without them.
class Texts {
public:
  // No text is longer without its escapes.
  void begin(size_t bytes) {
    if (!texts_ || bytes > capacity_) {
      texts_ = std::make_unique_for_overwrite<char[]>(bytes);
      capacity_ = bytes;
    }
    to_ = texts_.get();
  }

  // A text without escapes stays where it is.
  std::string_view unescaped(std::string_view raw) {
    const char *from = raw.data();
    const char *const end = from + raw.size();
    const char *at = backslash(from, end);
    if (at == end) return raw;
    const char *begin = to_;
    for (; at != end; at = backslash(from, end)) {
      append({from, at});
      from = escape(at + 1);
    }
    append({from, end});
    return {begin, to_};
  }

private:
  void append(std::string_view text) {
    std::memcpy(to_, text.data(), text.size());
    to_ += text.size();
  }

  // Reads what stands behind a backslash, and gives where it ends.
  const char *escape(const char *at) {
    static constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (*at != 'u') {
      const size_t name = names.find(*at);
      if (name == names.npos) throw Refused();
      *to_++ = meant[name];
      return at + 1;
    }
    uint32_t character = unit(at + 1);
    at += 5;
    if (character >= 0xd800 && character < 0xe000) {
      const bool goes_on = character < 0xdc00 && at[0] == '\\' && at[1] == 'u';
      const uint32_t second = goes_on ? unit(at + 2) - 0xdc00 : ~0u;
      if (second >= 0x400) throw Refused();
      character = 0x10000 + ((character - 0xd800) << 10) + second;
      at += 6;
    }
    const int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static constexpr uint32_t begins[] = {0, 0xc0, 0xe0, 0xf0};
    *to_++ = static_cast<char>(begins[more] | character >> 6 * more);
    for (int left = more; left-- > 0;) {
      *to_++ = static_cast<char>(0x80 | (character >> 6 * left & 0x3f));
    }
    return at;
  }

  static uint32_t unit(const char *digits) {
    uint32_t unit = 0;
    if (std::from_chars(digits, digits + 4, unit, 16).ptr != digits + 4) throw Refused();
    return unit;
  }

  std::unique_ptr<char[]> texts_;
  size_t capacity_ = 0;
  char *to_ = nullptr;
};

// What an object is asked for, as a type. The last ones need not be there.
template <size_t optional, const auto &...names> struct Names {
  static constexpr uint32_t count = sizeof...(names);
  static constexpr uint32_t every = (1u << count) - 1, required = every >> optional;

  // Gives the place of a name in the list; `count` if it is not there.
  static uint32_t find(std::string_view name) {
    uint32_t i = 0;
    (void)((name == names || (i++, false)) || ...);
    return i;
  }
};

// The names that an object had, each with what stands before its value. The next object of an array
// mostly has the same, so where a value begins is known before its name is read.
class Shape {
public:
  void begin() { next_ = 0; }

  // Gives whether at `text` stands the next name, or the one behind it.
  bool is_next(const char *text) {
    const __m256i bytes = load(text);
    if (!names_[next_].is(bytes) && !names_[++next_].is(bytes)) {
      next_--;
      return false;
    }
    next_++;
    return true;
  }
  // Of the name that was found: how many bytes stand before its value, and which name it is.
  size_t size() const { return names_[next_ - 1].size; }
  uint32_t name() const { return names_[next_ - 1].name; }

  // Puts another one in place of the next.
  void learn(const char *text, const char *value, uint32_t name) {
    const auto size = static_cast<size_t>(value - text);
    if (size >= 32 || next_ == most) return;
    _mm256_store_si256(&names_[next_].text, load(text));
    names_[next_].others = ~uint32_t{0} << size;
    names_[next_].size = static_cast<uint32_t>(size);
    names_[next_++].name = name;
  }

private:
  struct Name {
    __m256i text = _mm256_setzero_si256(); // like nothing
    uint32_t others = 0;
    uint32_t size = 0;
    uint32_t name = 0;

    bool is(__m256i bytes) const {
      return (bits(_mm256_cmpeq_epi8(bytes, text)) | others) == ~uint32_t{0};
    }
  };
  static constexpr size_t most = 40;
  Name names_[most + 2];
  size_t next_ = 0;
};

// Walks through a document: each step reads what stands at its place, and goes behind it. The zeros
// behind the document end whatever a step looks for.
class Walker {
public:
  Walker(Outline &outline, Texts &texts, const char *at)
      : outline_(outline), texts_(texts), at_(after_space(at)) {}

  // Gives where the walk is, behind white space.
  const char *place() { return at_ = after_space(at_); }

  // Reads an object: `member(i)` reads the value of the first member with the `i`th name.
  template <class Names, class Member> void object(Shape &shape, Member member) {
    uint32_t missing = Names::every;
    shape.begin();
    size_t gap = 0;
    for (bool is_more = open('{', '}'); is_more; is_more = is_followed('}', gap)) {
      if (!missing) {
        close('}');
        break;
      }
      const uint32_t i = name<Names>(shape);
      if (missing >> i & 1) {
        member(i);
        missing &= ~(1u << i);
      } else {
        skip();
      }
    }
    if (missing & Names::required) throw Refused();
    depth_--;
  }

  // Reads an array: `item()` reads each item.
  template <class Item> void array(Item item) {
    size_t gap = 0;
    for (bool is_more = open('[', ']'); is_more; is_more = is_followed(']', gap)) item();
    depth_--;
  }

  uint64_t number() {
    const char *const begin = at_;
    uint64_t number = 0;
    for (; *at_ >= '0' && *at_ <= '9'; at_++) {
      const auto digit = static_cast<uint64_t>(*at_ - '0');
      // 19 digits always fit.
      if (at_ - begin >= 19 && (at_ - begin > 19 || number > (~uint64_t{0} - digit) / 10)) {
        throw Refused();
      }
      number = 10 * number + digit;
    }
    if (at_ == begin || (*begin == '0' && at_ - begin > 1)) throw Refused();
    end_token();
    return number;
  }

  // Gives whether null stands here, and goes behind it.
  bool is_null() {
    if (std::memcmp(at_, "null", 4) != 0) return false;
    at_ += 4;
    end_token();
    return true;
  }

  std::string_view string() { return texts_.unescaped(raw_string()); }

private:
  std::string_view raw_string() {
    if (*at_ != '"') throw Refused();
    const char *const begin = at_ + 1;
    const char *const end = outline_.string_end(at_);
    at_ = end + 1;
    return {begin, end};
  }

  // Reads the name of a member, and gives which it is.
  template <class Names> uint32_t name(Shape &shape) {
    if (*at_ != '"') throw Refused();
    if (!shape.is_next(at_)) [[unlikely]] return new_name<Names>(shape);
    at_ += shape.size();
    if (static_cast<uint8_t>(*at_) <= ' ') place();
    return shape.name();
  }

  template <class Names> __attribute__((noinline)) uint32_t new_name(Shape &shape) {
    const char *const begin = at_;
    const uint32_t i = Names::find(string());
    if (*place() != ':') throw Refused();
    at_++;
    shape.learn(begin, place(), i);
    return i;
  }

  // Goes into an object or array; gives whether there is anything in it.
  bool open(char bracket, char closing) {
    if (*at_++ != bracket) throw Refused();
    depth_++;
    if (*place() != closing) return true;
    at_++;
    return false;
  }

  // Goes behind the bracket that closes what is open here.
  void close(char bracket) {
    at_ = outline_.close(at_, depth_);
    if (*at_++ != bracket) throw Refused();
  }

  // Goes behind the comma before another item, or behind the bracket; gives whether it was a comma.
  // White space behind it is taken to be as long as the last time, so that what comes need not wait
  // for it.
  bool is_followed(char bracket, size_t &gap) {
    if (*at_ != ',' && *place() != ',') {
      if (*at_ != bracket) throw Refused();
      at_++;
      return false;
    }
    at_++;
    const uint64_t other = ~bits(is_in(load(at_), spaces));
    if ((other & ((uint64_t{2} << gap) - 1)) == uint64_t{1} << gap) {
      at_ += gap;
    } else {
      const char *const from = at_;
      gap = std::min<size_t>(static_cast<size_t>(place() - from), 31);
    }
    return true;
  }

  void skip() {
    if (*at_ == '"') {
      at_ = outline_.string_end(at_) + 1;
    } else if (*at_ == '{' || *at_ == '[') {
      const char closing = static_cast<char>(*at_++ + ('}' - '{'));
      depth_++;
      close(closing);
      depth_--;
    } else if (std::memcmp(at_, "null,", 5) == 0) {
      at_ += 4;
    } else {
      const char *const end = token_end(at_);
      if (end == at_) throw Refused();
      at_ = end;
    }
  }

  void end_token() {
    if (*at_ != ',' && token_end(at_) != at_) throw Refused();
  }

  Outline &outline_;
  Texts &texts_;
  const char *at_;
  int32_t depth_ = 0;
};

constexpr std::string_view created_at = "created_at", id = "id", text = "text",
                           in_reply_to_status_id = "in_reply_to_status_id", user = "user",
                           screen_name = "screen_name", retweet_count = "retweet_count",
                           favorite_count = "favorite_count", statuses = "statuses",
                           retweeted_status = "retweeted_status";

class Ours {
public:
  // It has no form of the other two.
  void json2msgpack(std::string_view, MessagePack &) { throw Refused(); }
  void kostya(std::string_view, std::vector<Point> &) { throw Refused(); }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    using Asked = Names<0, created_at, id, text, in_reply_to_status_id, user, retweet_count,
                        favorite_count>;
    Shape of_tweet, of_user;
    each_status(json, [&](Walker &walker) {
      Tweet &next = tweets.emplace_back();
      const auto read_user = [&](uint32_t name) {
        if (name == 0) next.user_id = walker.number();
        else next.screen_name = walker.string();
      };
      walker.object<Asked>(of_tweet, [&](uint32_t name) {
        switch (name) {
        case 0: next.created_at = walker.string(); break;
        case 1: next.id = walker.number(); break;
        case 2: next.text = walker.string(); break;
        case 3: next.in_reply_to_status_id = walker.is_null() ? 0 : walker.number(); break;
        case 4: walker.object<Names<0, id, screen_name>>(of_user, read_user); break;
        case 5: next.retweet_count = walker.number(); break;
        default: next.favorite_count = walker.number(); break;
        }
      });
    });
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    Shape of_tweet, of_user, of_retweet;
    each_status(json, [&](Walker &walker) {
      const auto read_id = [&](uint32_t) { ids.push_back(walker.number()); };
      const auto read_user = [&](uint32_t) { walker.object<Names<0, id>>(of_user, read_id); };
      walker.object<Names<1, user, retweeted_status>>(of_tweet, [&](uint32_t name) {
        if (name == 0) read_user(name);
        else if (!walker.is_null()) walker.object<Names<0, user>>(of_retweet, read_user);
      });
    });
  }

private:
  template <class Item> void each_status(std::string_view json, Item item) {
    outline_.begin(json);
    texts_.begin(json.size());
    Walker walker(outline_, texts_, json.data());
    Shape of_document;
    walker.object<Names<0, statuses>>(
        of_document, [&](uint32_t) { walker.array([&] { item(walker); }); });
    if (walker.place() != json.data() + json.size()) throw Refused();
    outline_.end();
  }

  Outline outline_;
  Texts texts_;
};

} // namespace

JSON_CONTESTANT_THAT_NEEDS("ours", "avx2,bmi1,bmi2,pclmulqdq,popcnt", Ours);
