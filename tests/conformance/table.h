// Tables of cells between tabs: of the cases, and of their results.
#pragma once

#include <string>
#include <vector>

namespace mete::conformance {

// Returns the rows that are not empty. No row if there is no such file.
std::vector<std::vector<std::string>> ReadTable(const std::string& path);

}  // namespace mete::conformance
