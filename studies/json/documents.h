// The documents of this study, drawn from a seed.
#ifndef JSON_DOCUMENTS_H
#define JSON_DOCUMENTS_H

#include "tiebreak.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

inline void append_utf8(std::string &text, uint32_t character) {
  const auto byte = [&](uint32_t value) { text += static_cast<char>(value); };
  if (character < 0x80) return byte(character);
  const uint32_t last = 0x80 | (character & 63);
  if (character < 0x800) return byte(0xc0 | character >> 6), byte(last);
  const uint32_t middle = 0x80 | (character >> 6 & 63);
  if (character < 0x10000) return byte(0xe0 | character >> 12), byte(middle), byte(last);
  byte(0xf0 | character >> 18), byte(0x80 | (character >> 12 & 63)), byte(middle), byte(last);
}

class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t word() { return tiebreak_random(&state_); }
  // A number below `end`; its bias is of no matter here.
  uint64_t below(uint64_t end) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(word()) * end) >> 64);
  }
  uint64_t between(uint64_t first, uint64_t last) { return first + below(last - first + 1); }
  bool in_1000(uint64_t share) { return below(1000) < share; }
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  char one_of(std::string_view letters) { return letters[below(letters.size())]; }

private:
  uint64_t state_;
};

// Writes a document. `odd` draws other white space, and what is rare between the members.
class Writer {
public:
  Writer(uint64_t seed, size_t indent, bool is_odd)
      : random(seed), indent_(indent), is_odd_(is_odd) {}

  Random random;
  std::string text;

  void open(char bracket) {
    text += bracket;
    depth_++;
    is_first_ = true;
  }
  void close(char bracket) {
    depth_--;
    if (!is_first_) line();
    text += bracket;
    is_first_ = false;
  }
  // Begins an item of an array.
  void item() {
    if (!is_first_) text += ',';
    is_first_ = false;
    line();
  }
  // Begins a member.
  void name(std::string_view name) {
    if (is_odd_ && random.in_1000(100)) {
      member_name("between");
      odd_value(4);
    }
    member_name(name);
  }
  void null(std::string_view name) { this->name(name), text += "null"; }
  void boolean(std::string_view name, bool value) {
    this->name(name), text += value ? "true" : "false";
  }
  void number(std::string_view name, uint64_t value) {
    this->name(name), text += std::to_string(value);
  }
  void string(std::string_view name, std::string_view value) {
    this->name(name), quoted(value);
  }
  void quoted(std::string_view value) { ((text += '"') += value) += '"'; }

  std::string letters(uint64_t count, std::string_view of = "abcdefghijklmnopqrstuvwxyz") {
    std::string letters;
    while (count--) letters += random.one_of(of);
    return letters;
  }
  std::string digits(uint64_t count) { return letters(count, "123456789"); }

  // About so many bytes of Japanese with some ASCII, line feeds and characters of 4 bytes.
  std::string prose(uint64_t bytes) {
    std::string prose;
    while (prose.size() < bytes) {
      const uint64_t kind = random.below(100);
      if (is_odd_ && kind < 30) {
        prose += odd_characters();
      } else if (kind < 17) {
        prose += letters(1, "abcdefghijklmnopqrstuvwxyzABCDEF0123456789 @#:/._");
      } else if (kind < 18) {
        prose += "\\n";
      } else if (kind < 19) {
        append_utf8(prose, static_cast<uint32_t>(0x1f300 + random.below(0x200)));
      } else if (kind < 60) {
        append_utf8(prose, static_cast<uint32_t>(0x3041 + random.below(0xb0)));
      } else {
        append_utf8(prose, static_cast<uint32_t>(0x4e00 + random.below(0x4000)));
      }
    }
    return prose;
  }

  // A value of any kind, at most so deep.
  void odd_value(int depth) {
    static constexpr std::string_view plain[] = {
        "0", "1", "-1", "18446744073709551615", "-9223372036854775808",
        "9223372036854775807", "9007199254740993", "-9007199254740993", "4294967296", "1e22",
        "-1E+10", "1.5e-20", "0.1", "123456.789e-3", "1e-7", "2.5", "true", "false", "null", "[]",
        "{}", "\"\"", "[[]]", "[{}]", "\"]\"", "\"\\\\\"", "\"{\\\"a\\\":[\"", "[ ]", "{\t}"};
    const uint64_t kind = depth > 0 ? random.below(8) : random.below(4);
    if (kind < 3) {
      text += plain[random.below(std::size(plain))];
    } else if (kind < 4) {
      quoted(prose(random.below(200)));
    } else {
      const bool is_object = kind < 6;
      open(is_object ? '{' : '[');
      for (uint64_t left = random.below(5), i = 0; i < left; i++) {
        // Names are different within an object: the index is part of each.
        is_object ? member_name(odd_characters() + std::to_string(i)) : item();
        odd_value(depth - 1);
      }
      close(is_object ? '}' : ']');
    }
  }

  void member_name(std::string_view name) {
    item();
    quoted(name);
    text += is_odd_ && random.in_1000(500) ? "\t:" : ": ";
  }

private:
  void line() {
    if (is_odd_) {
      while (random.in_1000(500)) text += random.one_of(" \t\n\r");
    } else {
      text += '\n';
      text.append(depth_ * indent_, ' ');
    }
  }

  std::string odd_characters() {
    static constexpr std::string_view odd[] = {
        "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\u001f", "\\u0041",
        "\\u00e9", "\\u20AC", "\\uFFFF", "\\ud7ff", "\\ue000", "\\ud83d\\ude00", "\\uD800\\uDC00",
        "\\udbff\\udfff", "/", "\x7f", "\u00e9", "\uffff", "\U0010ffff", "'", ",", ":", "\\\\\\\""};
    return std::string(odd[random.below(std::size(odd))]);
  }

  size_t indent_;
  bool is_odd_;
  size_t depth_ = 0;
  bool is_first_ = true;
};

// A user as the published file has them, by its mean lengths and shares.
inline void user(Writer &to, uint64_t id) {
  Random &random = to.random;
  const std::string background = random.in_1000(500) ? "theme1/bg.png" : "theme15/bg.gif";
  const std::string image = to.digits(18) + "/" + to.letters(8) + "_normal.jpeg";
  to.open('{');
  to.number("id", id);
  to.string("id_str", std::to_string(id));
  to.string("name", to.prose(random.between(2, 41)));
  to.string("screen_name", to.letters(random.between(8, 15), "abcdefghijklmnopqrstuvwxyz_0123"));
  to.string("location", random.in_1000(300) ? to.prose(random.between(4, 28)) : "");
  to.string("description", to.prose(random.between(0, 395)));
  const bool has_url = random.in_1000(100);
  has_url ? to.string("url", "http://t.co/" + to.letters(10)) : to.null("url");
  to.name("entities");
  to.open('{');
  for (const char *part : {"url", "description"}) {
    if (part[0] == 'u' && !has_url) continue;
    to.name(part);
    to.open('{');
    to.name("urls");
    to.open('[');
    if (part[0] == 'u') {
      to.item();
      to.open('{');
      to.string("url", "http://t.co/" + to.letters(10));
      to.string("expanded_url", "http://" + to.letters(25));
      to.string("display_url", to.letters(25));
      to.name("indices");
      to.open('[');
      for (const char *index : {"0", "22"}) to.item(), to.text += index;
      to.close(']');
      to.close('}');
    }
    to.close(']');
    to.close('}');
  }
  to.close('}');
  to.boolean("protected", false);
  to.number("followers_count", random.below(2000));
  to.number("friends_count", random.below(2000));
  to.number("listed_count", random.below(60));
  to.string("created_at", "Sat Feb 16 13:40:" + to.digits(2) + " +0000 2013");
  to.number("favourites_count", random.below(6000));
  const bool has_zone = random.in_1000(170);
  has_zone ? to.number("utc_offset", 32400) : to.null("utc_offset");
  has_zone ? to.string("time_zone", "Irkutsk") : to.null("time_zone");
  to.boolean("geo_enabled", random.in_1000(300));
  to.boolean("verified", false);
  to.number("statuses_count", random.below(50'000));
  to.string("lang", "ja");
  for (const char *name : {"contributors_enabled", "is_translator", "is_translation_enabled"}) {
    to.boolean(name, false);
  }
  to.string("profile_background_color", to.letters(6, "0123456789ABCDEF"));
  to.string("profile_background_image_url", "http://abs.twimg.com/images/themes/" + background);
  to.string("profile_background_image_url_https",
            "https://abs.twimg.com/images/themes/" + background);
  to.boolean("profile_background_tile", random.in_1000(200));
  to.string("profile_image_url", "http://pbs.twimg.com/profile_images/" + image);
  to.string("profile_image_url_https", "https://pbs.twimg.com/profile_images/" + image);
  if (random.in_1000(908)) {
    to.string("profile_banner_url",
              "https://pbs.twimg.com/profile_banners/" + std::to_string(id) + "/" + to.digits(10));
  }
  for (const char *name : {"profile_link_color", "profile_sidebar_border_color",
                           "profile_sidebar_fill_color", "profile_text_color"}) {
    to.string(name, to.letters(6, "0123456789ABCDEF"));
  }
  to.boolean("profile_use_background_image", true);
  to.boolean("default_profile", random.in_1000(500));
  for (const char *name :
       {"default_profile_image", "following", "follow_request_sent", "notifications"}) {
    to.boolean(name, false);
  }
  to.close('}');
}

// The members of a tweet; a retweet has the original within it.
inline void tweet(Writer &to, bool is_original) {
  Random &random = to.random;
  const std::string id = "50587" + to.digits(13);
  const bool is_retweet = !is_original && random.in_1000(730);
  to.open('{');
  to.name("metadata");
  to.open('{');
  to.string("result_type", "recent");
  to.string("iso_language_code", "ja");
  to.close('}');
  to.string("created_at", "Sun Aug 31 00:29:" + to.digits(2) + " +0000 2014");
  to.number("id", std::stoull(id));
  to.string("id_str", id);
  to.string("text", to.prose(random.between(249, 413)));
  to.string("source", R"(<a href=\"http://twitter.com/)" + to.letters(random.between(4, 22)) +
                          R"(\" rel=\"nofollow\">)" + to.letters(random.between(5, 21)) + "</a>");
  to.boolean("truncated", false);
  const bool is_reply = random.in_1000(35);
  const std::string replied = "50587" + to.digits(13);
  for (const char *name : {"in_reply_to_status_id", "in_reply_to_status_id_str",
                           "in_reply_to_user_id", "in_reply_to_user_id_str"}) {
    if (!is_reply) {
      to.null(name);
    } else if (name[std::string_view(name).size() - 1] == 'r') {
      to.string(name, replied);
    } else {
      to.number(name, std::stoull(replied));
    }
  }
  is_reply ? to.string("in_reply_to_screen_name", to.letters(12))
           : to.null("in_reply_to_screen_name");
  to.name("user");
  user(to, random.in_1000(500) ? 900'000'000 + random.below(60) : random.between(1e7, 2.7e9));
  for (const char *name : {"geo", "coordinates", "place", "contributors"}) to.null(name);
  if (is_retweet) {
    to.name("retweeted_status");
    tweet(to, true);
  }
  to.number("retweet_count", random.below(150));
  to.number("favorite_count", random.below(100));
  to.name("entities");
  to.open('{');
  for (const char *name : {"hashtags", "symbols", "urls", "user_mentions"}) {
    to.name(name);
    to.open('[');
    const uint64_t share = name[0] == 's' ? 0 : name[0] == 'h' ? 50 : is_retweet ? 1000 : 60;
    const bool is_mention = name[1] == 's' && name[2] == 'e';
    if (random.in_1000(name[2] == 'l' ? 100 : is_mention || name[0] == 'h' ? share : 0)) {
      to.item();
      to.open('{');
      if (is_mention) {
        const std::string mentioned = to.digits(9);
        to.string("screen_name", to.letters(12));
        to.string("name", to.prose(20));
        to.number("id", std::stoull(mentioned));
        to.string("id_str", mentioned);
      } else if (name[0] == 'h') {
        to.string("text", to.prose(15));
      } else {
        to.string("url", "http://t.co/" + to.letters(10));
        to.string("expanded_url", "http://" + to.letters(30));
        to.string("display_url", to.letters(25));
      }
      to.name("indices");
      to.open('[');
      to.item(), to.text += "3";
      to.item(), to.text += std::to_string(random.between(10, 18));
      to.close(']');
      to.close('}');
    }
    to.close(']');
  }
  to.close('}');
  to.boolean("favorited", false);
  to.boolean("retweeted", false);
  to.string("lang", "ja");
  to.close('}');
}

// The result of a search for tweets, of exactly so many bytes unless it is odd: the query, at the
// end, is as long as it takes.
inline std::string tweets(uint64_t bytes, uint64_t seed, bool is_odd) {
  Writer to(seed, 2, is_odd);
  to.open('{');
  to.name("statuses");
  to.open('[');
  constexpr size_t end_bytes = 300;
  for (;;) {
    Writer before = to;
    to.item();
    tweet(to, false);
    if (to.text.size() + end_bytes > bytes) {
      to = before;
      break;
    }
  }
  to.close(']');
  to.name("search_metadata");
  to.open('{');
  to.name("completed_in");
  to.text += "0.087";
  to.number("max_id", 505874924095815700);
  to.string("max_id_str", "505874924095815681");
  to.number("count", 100);
  to.number("since_id", 0);
  to.string("since_id_str", "0");
  to.name("query");
  constexpr std::string_view end = "\n  }\n}\n";
  const size_t written = to.text.size() + 2 + end.size();
  to.quoted(written < bytes ? to.letters(bytes - written) : "");
  to.close('}');
  to.close('}');
  return to.text + "\n";
}

// Points as the source makes them, with six digits. The string at the end makes documents of one
// size equally long.
inline std::string points(uint64_t count, uint64_t seed, bool is_odd) {
  Writer to(seed, 4, is_odd);
  to.open('{');
  to.name("coordinates");
  to.open('[');
  for (uint64_t i = 0; i < count; i++) {
    to.item();
    to.open('{');
    for (const char *name : {"x", "y", "z"}) {
      char digits[32];
      const int length = std::snprintf(digits, sizeof(digits), "%.6g", to.random.unit());
      to.name(name);
      to.text.append(digits, static_cast<size_t>(length));
      if (is_odd && to.random.in_1000(200)) {
        to.text.resize(to.text.size() - static_cast<size_t>(length));
        to.text += to.random.in_1000(500) ? "-12" : "1.25E+3";
      }
    }
    to.string("name", to.letters(6) + " " + std::to_string(to.random.below(10'000)));
    to.name("opts");
    to.open('{');
    to.name("1");
    to.open('[');
    for (const char *item : {"1", "true"}) to.item(), to.text += item;
    to.close(']');
    to.close('}');
    to.close('}');
  }
  to.close(']');
  to.name("info");
  // The mean of a point's length, and so much more that hardly a document is longer.
  const double bytes = 273.6 * static_cast<double>(count) + 16 * std::sqrt(count) + 100;
  const auto target = static_cast<size_t>(bytes);
  to.quoted(to.text.size() < target ? to.letters(target - to.text.size()) : "some info");
  to.close('}');
  return to.text + "\n";
}

// Values of any kind; now and then nested as deep as all libraries allow without being asked.
inline std::string values(uint64_t count, uint64_t seed) {
  Writer to(seed, 0, true);
  to.open('[');
  for (uint64_t i = 0; i < count; i++) {
    to.item();
    const uint64_t depth = to.random.in_1000(50) ? to.random.between(20, 100) : 0;
    for (uint64_t at = 0; at < depth; at++) {
      to.open('[');
      to.item();
    }
    to.odd_value(5);
    for (uint64_t at = 0; at < depth; at++) to.close(']');
  }
  to.close(']');
  return to.text;
}

// Objects of so many members, whose names occur twice and more often.
inline std::string duplicates(uint64_t count, uint64_t seed) {
  Writer to(seed, 2, false);
  to.open('{');
  for (uint64_t i = 0; i < count; i++) {
    to.member_name(to.letters(1, "ab"));
    to.odd_value(2);
  }
  to.close('}');
  return to.text;
}

// Negative zero, the ends of what a double can be, and numbers of 17 digits with any exponent.
inline std::string long_numbers(uint64_t count, uint64_t seed) {
  Writer to(seed, 2, false);
  to.open('[');
  for (const char *number : {"-0.0", "5e-324", "2.2250738585072011e-308",
                             "1.7976931348623157e308"}) {
    to.item(), to.text += number;
  }
  for (uint64_t i = 0; i < count; i++) {
    to.item();
    to.text += to.digits(1) + "." + to.digits(16);
    if (to.random.in_1000(500)) {
      to.text += "e" + std::string(to.random.in_1000(500) ? "-" : "") +
                 std::to_string(to.random.below(300));
    }
  }
  to.close(']');
  return to.text;
}

inline std::string document(std::string_view distribution, uint64_t size, uint64_t seed) {
  if (distribution == "odd-json2msgpack") return values(size, seed);
  if (distribution == "duplicates") return duplicates(size, seed);
  if (distribution == "digits") return long_numbers(size, seed);
  const bool is_odd = distribution.starts_with("odd-");
  return distribution.ends_with("kostya") ? points(size, seed, is_odd) : tweets(size, seed, is_odd);
}

#endif
