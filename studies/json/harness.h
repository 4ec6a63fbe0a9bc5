// The table of a contestant in C++, from a class with its four tasks and what it keeps from call to
// call. A task throws, whatever it likes, where the library refuses the document.
#ifndef JSON_HARNESS_H
#define JSON_HARNESS_H

#include "json.h"

// What a library that reports errors by its results throws.
struct Refused {};

template <class Parser> struct Harness {
  struct State {
    tiebreak_workload workload;
    std::unique_ptr<uint8_t[]> msgpack;
    Parser parser;
    Answer answer;
  };

  static void *prepare(const tiebreak_workload *workload) {
    // As large as the source's.
    const uint64_t msgpack_bytes = 4 * workload->input_bytes + 1024;
    return new State{*workload, std::make_unique<uint8_t[]>(msgpack_bytes), {}, {}};
  }

  static uint64_t run(void *opaque) {
    State &state = *static_cast<State *>(opaque);
    const auto *input = static_cast<const uint8_t *>(tiebreak_launder(state.workload.input));
    const std::string_view document = document_of(input, state.workload.input_bytes);
    Answer &answer = state.answer;
    answer.clear();
    try {
      switch (input[0]) {
      case 'j': {
        MessagePack msgpack(state.msgpack.get());
        state.parser.json2msgpack(document, msgpack);
        answer.msgpack = msgpack.bytes();
        break;
      }
      case 'p': state.parser.partial_tweets(document, answer.tweets); break;
      case 'd': state.parser.distinct_user_id(document, answer.user_ids); break;
      default: state.parser.kostya(document, answer.points); break;
      }
    } catch (...) {
      answer.clear();
      return ~uint64_t{0};
    }
    return checksum_of(answer);
  }

  static void dump(void *opaque, const tiebreak_sink *sink) {
    if (run(opaque) == ~uint64_t{0}) {
      sink->write(sink->context, "refused\n", 8);
    } else {
      write_answer(sink, static_cast<State *>(opaque)->answer);
    }
  }

  static void release(void *opaque) { delete static_cast<State *>(opaque); }
};

#define JSON_CONTESTANT(name, Parser) JSON_CONTESTANT_THAT_NEEDS(name, "", Parser)
#define JSON_CONTESTANT_THAT_NEEDS(name, needs, Parser) \
  TIEBREAK_CONTESTANT_WITH(name, needs, TIEBREAK_ALLOCATES, 0u, 0u, 0u, Harness<Parser>::prepare, \
                           nullptr, Harness<Parser>::run, Harness<Parser>::dump, \
                           Harness<Parser>::release)

#endif
