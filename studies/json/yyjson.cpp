// yyjson: a tree in one block of memory, which the next call frees.

#include "harness.h"

#include <yyjson.h>

namespace {

class Yyjson {
public:
  void json2msgpack(std::string_view json, MessagePack &msgpack) { value(parse(json), msgpack); }

  void partial_tweets(std::string_view json, std::vector<Tweet> &tweets) {
    size_t index, count;
    yyjson_val *tweet;
    yyjson_val *statuses = yyjson_obj_get(parse(json), "statuses");
    yyjson_arr_foreach(statuses, index, count, tweet) {
      yyjson_val *user = yyjson_obj_get(tweet, "user");
      tweets.push_back({string(tweet, "created_at"), number(tweet, "id"), string(tweet, "text"),
                        number(tweet, "in_reply_to_status_id"), number(user, "id"),
                        string(user, "screen_name"), number(tweet, "retweet_count"),
                        number(tweet, "favorite_count")});
    }
  }

  void distinct_user_id(std::string_view json, std::vector<uint64_t> &ids) {
    size_t index, count;
    yyjson_val *tweet;
    yyjson_val *statuses = yyjson_obj_get(parse(json), "statuses");
    yyjson_arr_foreach(statuses, index, count, tweet) {
      ids.push_back(number(yyjson_obj_get(tweet, "user"), "id"));
      yyjson_val *retweet = yyjson_obj_get(tweet, "retweeted_status");
      if (retweet) ids.push_back(number(yyjson_obj_get(retweet, "user"), "id"));
    }
  }

  void kostya(std::string_view json, std::vector<Point> &points) {
    size_t index, count;
    yyjson_val *point;
    yyjson_val *coordinates = yyjson_obj_get(parse(json), "coordinates");
    yyjson_arr_foreach(coordinates, index, count, point) {
      points.push_back({yyjson_get_num(yyjson_obj_get(point, "x")),
                        yyjson_get_num(yyjson_obj_get(point, "y")),
                        yyjson_get_num(yyjson_obj_get(point, "z"))});
    }
  }

private:
  struct Free {
    void operator()(yyjson_doc *document) const { yyjson_doc_free(document); }
  };

  yyjson_val *parse(std::string_view json) {
    document_ = nullptr;
    document_.reset(yyjson_read(json.data(), json.size(), 0));
    if (!document_) throw Refused();
    return yyjson_doc_get_root(document_.get());
  }

  static std::string_view string(yyjson_val *object, const char *key) {
    yyjson_val *value = yyjson_obj_get(object, key);
    if (!yyjson_is_str(value)) throw Refused();
    return {yyjson_get_str(value), yyjson_get_len(value)};
  }
  static uint64_t number(yyjson_val *object, const char *key) {
    yyjson_val *value = yyjson_obj_get(object, key);
    if (!yyjson_is_uint(value) && !yyjson_is_null(value)) throw Refused();
    return yyjson_get_uint(value); // 0 for null
  }

  static void value(yyjson_val *value, MessagePack &msgpack) {
    size_t index, count;
    yyjson_val *key, *child;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_ARR:
      msgpack.array(yyjson_arr_size(value));
      yyjson_arr_foreach(value, index, count, child) { Yyjson::value(child, msgpack); }
      break;
    case YYJSON_TYPE_OBJ:
      msgpack.object(yyjson_obj_size(value));
      yyjson_obj_foreach(value, index, count, key, child) {
        msgpack.string({yyjson_get_str(key), yyjson_get_len(key)});
        Yyjson::value(child, msgpack);
      }
      break;
    case YYJSON_TYPE_STR: msgpack.string({yyjson_get_str(value), yyjson_get_len(value)}); break;
    case YYJSON_TYPE_NUM: msgpack.number(yyjson_get_num(value)); break;
    case YYJSON_TYPE_BOOL: msgpack.boolean(yyjson_get_bool(value)); break;
    default: msgpack.null(); break;
    }
  }

  std::unique_ptr<yyjson_doc, Free> document_;
};

} // namespace

JSON_CONTESTANT("yyjson", Yyjson);
