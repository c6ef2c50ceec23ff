// Lists of cores in the kernel's notations: "0-3,5" and, in cpufreq, "0 1 2 3 5".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Ascending and without repetitions, so that equal sets are equal texts; nothing where the text is not such a
// list, or one of no cores, or names a core beyond kMostCores (0-4294967295 would otherwise be 16 GiB).
std::optional<std::vector<int>> ParseCoreList(std::string_view text);
std::string FormatCoreList(const std::vector<int>& cores);

// Both lists ascending.
std::vector<int> Intersection(const std::vector<int>& a, const std::vector<int>& b);

}  // namespace mete
