// Boost.JSON: a tree of its own containers from the default allocator, which the next call frees.

#include "harness.h"

#include <boost/json.hpp>

namespace {

namespace json = boost::json;

class Boost {
public:
  void json2msgpack(std::string_view text, MessagePack &msgpack) { value(parse(text), msgpack); }

  void partial_tweets(std::string_view text, std::vector<Tweet> &tweets) {
    for (const json::value &tweet : parse(text).at("statuses").as_array()) {
      const json::value &reply = tweet.at("in_reply_to_status_id");
      const json::value &user = tweet.at("user");
      tweets.push_back({tweet.at("created_at").as_string(), number(tweet.at("id")),
                        tweet.at("text").as_string(), reply.is_null() ? 0 : number(reply),
                        number(user.at("id")), user.at("screen_name").as_string(),
                        number(tweet.at("retweet_count")), number(tweet.at("favorite_count"))});
    }
  }

  void distinct_user_id(std::string_view text, std::vector<uint64_t> &ids) {
    for (const json::value &tweet : parse(text).at("statuses").as_array()) {
      ids.push_back(number(tweet.at("user").at("id")));
      const json::value *retweet = tweet.as_object().if_contains("retweeted_status");
      if (retweet) ids.push_back(number(retweet->at("user").at("id")));
    }
  }

  void kostya(std::string_view text, std::vector<Point> &points) {
    for (const json::value &point : parse(text).at("coordinates").as_array()) {
      points.push_back({point.at("x").to_number<double>(), point.at("y").to_number<double>(),
                        point.at("z").to_number<double>()});
    }
  }

private:
  const json::value &parse(std::string_view text) {
    document_ = nullptr;
    return document_ = json::parse(text, {}, options());
  }

  static json::parse_options options() {
    json::parse_options options;
    options.max_depth = 128; // 32 if not said
    return options;
  }

  static uint64_t number(const json::value &value) { return value.to_number<uint64_t>(); }

  static void value(const json::value &value, MessagePack &msgpack) {
    switch (value.kind()) {
    case json::kind::array:
      msgpack.array(value.get_array().size());
      for (const json::value &child : value.get_array()) Boost::value(child, msgpack);
      break;
    case json::kind::object:
      msgpack.object(value.get_object().size());
      for (const auto &member : value.get_object()) {
        msgpack.string(member.key());
        Boost::value(member.value(), msgpack);
      }
      break;
    case json::kind::string: msgpack.string(value.get_string()); break;
    case json::kind::bool_: msgpack.boolean(value.get_bool()); break;
    case json::kind::null: msgpack.null(); break;
    default: msgpack.number(value.to_number<double>()); break;
    }
  }

  json::value document_;
};

} // namespace

JSON_CONTESTANT("boost", Boost);
