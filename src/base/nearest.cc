#include "base/nearest.h"

#include <algorithm>
#include <utility>

namespace mete {
namespace {

constexpr size_t kLongest = 64;  // longer names are nobody's typing errors

// Letters to insert, delete or replace (Levenshtein).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& k : known) {
    const size_t distance = name.size() > kLongest ? name.size() : Distance(name, k);
    if (distance * 3 <= std::max(name.size(), k.size())) near.emplace_back(distance, k);
  }
  if (near.empty()) return known;
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  near.resize(std::min(near.size(), kMost));
  std::vector<std::string> names;
  for (auto& [distance, k] : near) names.push_back(std::move(k));
  return names;
}

}  // namespace mete
