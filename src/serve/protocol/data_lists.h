// Takes the lists of elements out of a request's JSON, so that the rest is small and the lists are read in
// the type of their tensor, whichever key comes first. A list is most of a request: 150,528 floats take 1.5
// MB.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/protocol/request_bounds.h"

namespace mete::serve {

struct CutJson {
  // The JSON, where the list of number i that followed a key "data" is written as [i].
  std::string text;
  // The lists, from '[' to ']', as they lie in the JSON. What is between may be no JSON, but its brackets
  // match, it has at most Shape::kMaxRank lists within each other, and its strings end.
  std::vector<std::string_view> lists;
};

// Takes time in proportion to the JSON. Error RESOURCE_EXHAUSTED if there are more lists than tensors may be,
// or if the rest is larger than bounds.json_bytes; INVALID_ARGUMENT for a list without an end or nested too
// deep. Nothing else is checked: the rest may be no JSON.
CutJson CutDataLists(std::string_view json, const RequestBounds& bounds);

// Returns where the string that begins at `from` with a quote ends: the place behind its other quote; npos:
// it does not end.
size_t EndOfString(std::string_view json, size_t from);

}  // namespace mete::serve
