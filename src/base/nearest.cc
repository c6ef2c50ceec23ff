#include "base/nearest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace mete {
namespace {

constexpr size_t kLongest = 64;  // longer names are not compared: they are no typing errors

// Returns the optimal string alignment distance: the number of letters to insert, delete, replace, or
// exchange with their neighbour.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

// Returns true if `name` is a prefix of `known`: a user who wrote "--res" may have meant "--resize".
bool Begins(std::string_view name, std::string_view known) {
  return name.size() >= 2 && known.starts_with(name);
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& k : known) {
    const size_t distance = name.size() > kLongest ? name.size() : Distance(name, k);
    if (Begins(name, k)) near.emplace_back(0, k);  // names with a common prefix come first
    else if (distance * 3 <= std::max(name.size(), k.size())) near.emplace_back(distance, k);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  near.resize(std::min(near.size(), kMost));
  std::vector<std::string> names;
  for (auto& [distance, k] : near) names.push_back(std::move(k));
  return names;
}

std::string ExpectedOneOf(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kLongList = 8;  // a guess: a reader cannot take in a longer list at a glance
  const std::vector<std::string> near = NearestNames(name, known);
  const std::string advice = near.empty() ? "" : fmt::format("; try {}", fmt::join(near, " or "));
  if (!near.empty() && known.size() > kLongList) return advice;
  return fmt::format(", expected one of {}{}", fmt::join(known, ", "), advice);
}

}  // namespace mete
