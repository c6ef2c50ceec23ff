#include "machine/core_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "machine/machine.h"

namespace mete {
namespace {

std::optional<int> Core(std::string_view text) {
  int core = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc() || end != text.data() + text.size() || core < 0 || core >= kMostCores)
    return std::nullopt;
  return core;
}

bool AddRange(std::string_view range, std::vector<int>& cores) {
  const size_t dash = range.find('-');
  const auto first = Core(range.substr(0, dash)),
             last = dash == range.npos ? first : Core(range.substr(dash + 1));
  if (!first || !last || *last < *first || cores.size() > size_t(kMostCores)) return false;
  for (int core = *first; core <= *last; ++core) cores.push_back(core);
  return true;
}

}  // namespace

std::optional<std::vector<int>> ParseCoreList(std::string_view text) {
  std::vector<int> cores;
  for (size_t at = 0;;) {
    const size_t end = text.find_first_of(", ", at);
    if (!AddRange(text.substr(at, end - at), cores)) return std::nullopt;
    if (end == text.npos) break;
    at = end + 1;
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string FormatCoreList(const std::vector<int>& cores) {
  std::string out;
  for (size_t i = 0, end; i < cores.size(); i = end) {
    for (end = i + 1; end < cores.size() && cores[end] == cores[end - 1] + 1;) ++end;
    out += fmt::format("{}{}", i > 0 ? "," : "", cores[i]);
    if (end > i + 1) out += fmt::format("-{}", cores[end - 1]);
  }
  return out;
}

std::vector<int> Intersection(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace mete
