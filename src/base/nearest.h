// Suggestions for messages about unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Returns the names of `known` that begin with `name` or whose edit distance from it is at most a third of
// the longer name's length: at most three names, the nearest first.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

// Returns the end of a message about `name`, such as ", expected one of antialias, bilinear, bicubic; try
// bicubic". The advice is left out if no known name is near. The list is left out if it is long and a name is
// near: "; try --resize".
std::string ExpectedOneOf(std::string_view name, const std::vector<std::string>& known);

}  // namespace mete
