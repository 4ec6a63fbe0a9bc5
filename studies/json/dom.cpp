// simdjson DOM: parses the whole document into a tape, then walks it.

#include "harness.h"

#include <simdjson.h>

namespace {

using namespace simdjson;

class Dom {
public:
  void json2msgpack(std::string_view json, MessagePack &msgpack) { value(parse(json), msgpack); }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    for (const dom::element tweet : dom::array(parse(json)["statuses"])) {
      const dom::element reply = tweet["in_reply_to_status_id"];
      const dom::element user = tweet["user"];
      tweets.push_back({tweet["created_at"], tweet["id"], tweet["text"],
                        reply.is_null() ? 0 : uint64_t(reply), user["id"], user["screen_name"],
                        tweet["retweet_count"], tweet["favorite_count"]});
    }
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    for (const dom::object tweet : dom::array(parse(json)["statuses"])) {
      ids.push_back(tweet["user"]["id"]);
      const auto retweet = tweet["retweeted_status"];
      if (retweet.error() != NO_SUCH_FIELD) ids.push_back(retweet["user"]["id"]);
    }
  }

  void kostya(std::string_view json, std::vector<Point> &points) {
    for (const dom::element point : dom::array(parse(json)["coordinates"])) {
      points.push_back({point["x"], point["y"], point["z"]});
    }
  }

private:
  dom::element parse(std::string_view json) {
    constexpr bool is_copied_for_its_margin = false;
    return parser_.parse(json.data(), json.size(), is_copied_for_its_margin);
  }

  static void value(dom::element value, MessagePack &msgpack) {
    switch (value.type()) {
    case dom::element_type::ARRAY: {
      // The tape counts to 2^24 only, so the count is filled in.
      uint8_t *begun = msgpack.begin(0xdd);
      size_t count = 0;
      for (const dom::element child : dom::array(value)) {
        Dom::value(child, msgpack);
        count++;
      }
      MessagePack::end(begun, count);
      break;
    }
    case dom::element_type::OBJECT: {
      uint8_t *begun = msgpack.begin(0xdf);
      size_t count = 0;
      for (const auto [key, child] : dom::object(value)) {
        msgpack.string(key);
        Dom::value(child, msgpack);
        count++;
      }
      MessagePack::end(begun, count);
      break;
    }
    case dom::element_type::STRING: msgpack.string(value); break;
    case dom::element_type::BOOL: msgpack.boolean(value); break;
    case dom::element_type::NULL_VALUE: msgpack.null(); break;
    default: msgpack.number(value); break;
    }
  }

  dom::parser parser_;
};

} // namespace

JSON_CONTESTANT("dom", Dom);
