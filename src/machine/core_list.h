// Lists of cores in the kernel's notations: "0-3,5" and, in cpufreq, "0 1 2 3 5".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Returns the cores ascending and without repetitions, so that equal sets are formatted as equal texts.
// Returns nothing if the text is not such a list, has no cores, or names a core of kMostCores or above (the
// list of 0-4294967295 would otherwise take 16 GiB).
std::optional<std::vector<int>> ParseCoreList(std::string_view text);
std::string FormatCoreList(const std::vector<int>& cores);

// Returns the cores that are in both lists. Both lists must be ascending.
std::vector<int> Intersection(const std::vector<int>& a, const std::vector<int>& b);

}  // namespace mete
