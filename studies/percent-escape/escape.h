// What the contestants of this study that are C++ share.
#ifndef PERCENT_ESCAPE_ESCAPE_H
#define PERCENT_ESCAPE_ESCAPE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#define HIDDEN __attribute__((visibility("hidden")))

// The kernel under the published contract, in a source of its own as in the source's benchmark: a
// new string in which each '%' has become "%25". It reads nothing outside the view. The capacity of
// what it gives is at least the size; how much more is the contestant's affair.
HIDDEN std::string escape(std::string_view path);

// Under the contract "borrow": the view itself if there is nothing to escape, otherwise a view of
// `owned`, which has become the escaped string.
HIDDEN std::string_view escape_or_borrow(std::string_view path, std::string &owned);

// Under the contract "batch": all paths escaped one behind the other into `arena`, which has room
// for three times their bytes and `arena_slack_bytes` more; `ends[i]` is where path i ends.
HIDDEN void escape_all(const std::string_view *paths, size_t count, char *arena, size_t *ends);
constexpr size_t arena_slack_bytes = 64;

#endif
