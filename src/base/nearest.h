// What somebody may have meant: for messages about unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Those of `known` that a third of the letters or fewer make out of `name`, or that begin with it, the
// nearest first, three at most.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

// The end of a message about `name`: ", expected one of antialias, bilinear, bicubic; try bicubic". Without
// advice where nothing is near, and without the list where that is long and something is near: "; try
// --resize".
std::string ExpectedOneOf(std::string_view name, const std::vector<std::string>& known);

}  // namespace mete
