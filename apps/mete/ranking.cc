#include "ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "mete/io.h"
#include "text_file.h"

namespace mete::cli {
namespace {

void Softmax(std::vector<double>& scores) {
  if (scores.empty()) return;
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - most);
  for (double& s : scores) s /= sum;
}

}  // namespace

std::vector<Ranked> Rank(const ConstView& scores, int k, bool softmax,
                         const std::vector<std::string>& labels) {
  std::vector<double> values(size_t(scores.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = ElementAt(scores, int64_t(i));
  if (softmax) Softmax(values);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  auto key = [&](size_t i) {
    return std::isnan(values[i]) ? -std::numeric_limits<double>::infinity() : values[i];
  };
  auto better = [&](size_t a, size_t b) { return key(a) > key(b) || (key(a) == key(b) && a < b); };
  const size_t count = std::min(order.size(), size_t(std::max(k, 0)));
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(count), order.end(), better);
  std::vector<Ranked> ranked;
  for (size_t i = 0; i < count; ++i)
    ranked.push_back({int64_t(order[i]), order[i] < labels.size() ? labels[order[i]] : "", values[order[i]]});
  return ranked;
}

std::vector<std::string> ReadLabels(const std::string& path, const std::string& from) {
  std::vector<std::string> labels;
  std::istringstream text(ReadTextFile(path, from));
  for (std::string line; std::getline(text, line); labels.push_back(line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    line.erase(0, line.rfind('\t') + 1);  // npos + 1 is 0
  }
  return labels;
}

}  // namespace mete::cli
