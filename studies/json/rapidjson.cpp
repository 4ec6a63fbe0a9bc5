// RapidJSON: a tree in the memory of a document, which the next call frees. The flags are the
// source's: UTF-8 is validated, and numbers of more than 15 digits may be off by a few units of the
// last place.

#include "harness.h"

#include <rapidjson/document.h>

namespace {

using rapidjson::Value;

class RapidJson {
public:
  void json2msgpack(std::string_view json, MessagePack &msgpack) { value(parse(json), msgpack); }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    for (const Value &tweet : parse(json)["statuses"].GetArray()) {
      const Value &reply = tweet["in_reply_to_status_id"];
      const Value &user = tweet["user"];
      tweets.push_back({string(tweet["created_at"]), tweet["id"].GetUint64(),
                        string(tweet["text"]), reply.IsNull() ? 0 : reply.GetUint64(),
                        user["id"].GetUint64(), string(user["screen_name"]),
                        tweet["retweet_count"].GetUint64(), tweet["favorite_count"].GetUint64()});
    }
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    for (const Value &tweet : parse(json)["statuses"].GetArray()) {
      ids.push_back(tweet["user"]["id"].GetUint64());
      const auto retweet = tweet.FindMember("retweeted_status");
      if (retweet != tweet.MemberEnd()) ids.push_back(retweet->value["user"]["id"].GetUint64());
    }
  }

  void kostya(std::string_view json, std::vector<Point> &points) {
    for (const Value &point : parse(json)["coordinates"].GetArray()) {
      points.push_back({point["x"].GetDouble(), point["y"].GetDouble(), point["z"].GetDouble()});
    }
  }

private:
  const Value &parse(std::string_view json) {
    document_.emplace();
    document_->Parse<rapidjson::kParseValidateEncodingFlag>(json.data());
    if (document_->HasParseError()) throw Refused();
    return *document_;
  }

  static std::string_view string(const Value &value) {
    return {value.GetString(), value.GetStringLength()};
  }

  static void value(const Value &value, MessagePack &msgpack) {
    switch (value.GetType()) {
    case rapidjson::kArrayType:
      msgpack.array(value.Size());
      for (const Value &child : value.GetArray()) RapidJson::value(child, msgpack);
      break;
    case rapidjson::kObjectType:
      msgpack.object(value.MemberCount());
      for (const auto &member : value.GetObject()) {
        msgpack.string(string(member.name));
        RapidJson::value(member.value, msgpack);
      }
      break;
    case rapidjson::kStringType: msgpack.string(string(value)); break;
    case rapidjson::kNumberType: msgpack.number(value.GetDouble()); break;
    case rapidjson::kNullType: msgpack.null(); break;
    default: msgpack.boolean(value.GetBool()); break;
    }
  }

  std::optional<rapidjson::Document> document_;
};

} // namespace

JSON_CONTESTANT("rapidjson", RapidJson);
