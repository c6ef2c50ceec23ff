// What somebody may have meant: for messages about unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Those of `known` that a third of the letters or fewer make out of `name`, the nearest first, three at most; all of `known`, in their
// order, where none is that near.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

}  // namespace mete
