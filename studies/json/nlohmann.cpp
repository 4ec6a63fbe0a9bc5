// nlohmann: a tree of std::map, std::vector and std::string, which the next call frees.

#include "harness.h"

#include <nlohmann/json.hpp>

namespace {

class Nlohmann {
public:
  // A std::map would sort the members, and the answer has them in the order of the document.
  void json2msgpack(std::string_view json, MessagePack &msgpack) {
    ordered_ = nullptr;
    ordered_ = nlohmann::ordered_json::parse(json);
    value(ordered_, msgpack);
  }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    for (const auto &tweet : parse(json).at("statuses")) {
      const auto &reply = tweet.at("in_reply_to_status_id");
      const auto &user = tweet.at("user");
      tweets.push_back({string(tweet.at("created_at")), tweet.at("id"), string(tweet.at("text")),
                        reply.is_null() ? 0 : reply.get<uint64_t>(), user.at("id"),
                        string(user.at("screen_name")), tweet.at("retweet_count"),
                        tweet.at("favorite_count")});
    }
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    for (const auto &tweet : parse(json).at("statuses")) {
      ids.push_back(tweet.at("user").at("id"));
      const auto retweet = tweet.find("retweeted_status");
      if (retweet != tweet.end()) ids.push_back(retweet->at("user").at("id"));
    }
  }

  void kostya(std::string_view json, std::vector<Point> &points) {
    for (const auto &point : parse(json).at("coordinates")) {
      points.push_back({point.at("x"), point.at("y"), point.at("z")});
    }
  }

private:
  const nlohmann::json &parse(std::string_view json) {
    document_ = nullptr;
    return document_ = nlohmann::json::parse(json);
  }

  static std::string_view string(const nlohmann::json &value) {
    return value.get_ref<const std::string &>();
  }

  static void value(const nlohmann::ordered_json &value, MessagePack &msgpack) {
    switch (value.type()) {
    case nlohmann::json::value_t::array:
      msgpack.array(value.size());
      for (const auto &child : value) Nlohmann::value(child, msgpack);
      break;
    case nlohmann::json::value_t::object:
      msgpack.object(value.size());
      for (const auto &[key, child] : value.items()) {
        msgpack.string(key);
        Nlohmann::value(child, msgpack);
      }
      break;
    case nlohmann::json::value_t::string:
      msgpack.string(value.get_ref<const std::string &>());
      break;
    case nlohmann::json::value_t::boolean: msgpack.boolean(value.get<bool>()); break;
    case nlohmann::json::value_t::null: msgpack.null(); break;
    default: msgpack.number(value.get<double>()); break;
    }
  }

  nlohmann::json document_;
  nlohmann::ordered_json ordered_;
};

} // namespace

JSON_CONTESTANT("nlohmann", Nlohmann);
