// simdjson On-Demand: reads values as they are asked for. Of what is skipped it validates UTF-8 and
// that strings end.

#include "harness.h"

#include <simdjson.h>

namespace {

using namespace simdjson;

class OnDemand {
public:
  void json2msgpack(std::string_view json, MessagePack &msgpack) {
    ondemand::document document = parse(json);
    value(document.get_value(), msgpack);
    if (!document.at_end()) throw Refused();
  }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    ondemand::document document = parse(json);
    for (ondemand::object tweet : document.find_field("statuses")) {
      // Fields are found in the order of the document.
      Tweet &next = tweets.emplace_back();
      next.created_at = tweet.find_field("created_at");
      next.id = tweet.find_field("id");
      next.text = tweet.find_field("text");
      ondemand::value reply = tweet.find_field("in_reply_to_status_id");
      next.in_reply_to_status_id = reply.is_null() ? 0 : uint64_t(reply);
      ondemand::object user = tweet.find_field("user");
      next.user_id = user.find_field("id");
      next.screen_name = user.find_field("screen_name");
      next.retweet_count = tweet.find_field("retweet_count");
      next.favorite_count = tweet.find_field("favorite_count");
    }
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    ondemand::document document = parse(json);
    for (ondemand::object tweet : document.find_field("statuses")) {
      ids.push_back(tweet.find_field("user").find_field("id"));
      auto retweet = tweet.find_field("retweeted_status");
      if (retweet.error() == SUCCESS) {
        ids.push_back(retweet.find_field("user").find_field("id"));
      } else if (retweet.error() != NO_SUCH_FIELD) {
        throw Refused();
      }
    }
  }

  void kostya(std::string_view json, std::vector<Point> &points) {
    ondemand::document document = parse(json);
    for (ondemand::object point : document.find_field("coordinates")) {
      Point &next = points.emplace_back();
      next.x = point.find_field("x");
      next.y = point.find_field("y");
      next.z = point.find_field("z");
    }
  }

private:
  ondemand::document parse(std::string_view json) {
    return parser_.iterate(json.data(), json.size(), json.size() + margin);
  }

  void string(ondemand::raw_json_string raw, MessagePack &msgpack) {
    uint8_t *begun = msgpack.begin(0xdb);
    const std::string_view unescaped = parser_.unescape(raw, msgpack.at());
    MessagePack::end(begun, unescaped.size());
  }

  void value(ondemand::value value, MessagePack &msgpack) {
    switch (value.type()) {
    case ondemand::json_type::array: {
      uint8_t *begun = msgpack.begin(0xdd);
      size_t count = 0;
      for (auto child : value.get_array()) {
        this->value(child.value(), msgpack);
        count++;
      }
      MessagePack::end(begun, count);
      break;
    }
    case ondemand::json_type::object: {
      uint8_t *begun = msgpack.begin(0xdf);
      size_t count = 0;
      for (auto field : value.get_object()) {
        string(field.key(), msgpack);
        this->value(field.value(), msgpack);
        count++;
      }
      MessagePack::end(begun, count);
      break;
    }
    case ondemand::json_type::string: string(value.get_raw_json_string(), msgpack); break;
    case ondemand::json_type::number: msgpack.number(value.get_double()); break;
    case ondemand::json_type::boolean: msgpack.boolean(value.get_bool()); break;
    case ondemand::json_type::null:
      if (!value.is_null()) throw Refused();
      msgpack.null();
      break;
    default: throw Refused();
    }
  }

  ondemand::parser parser_;
};

} // namespace

JSON_CONTESTANT("ondemand", OnDemand);
