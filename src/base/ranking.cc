#include "base/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "mete/io.h"

namespace mete {
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

bool CanBeClasses(const Shape& shape) {
  if (!shape.known() || (shape.rank() != 2 && shape.rank() != 4)) return false;
  return shape[1] >= 2 && shape.Elements(2, shape.rank()) == 1;
}

std::vector<std::string> LabelsIn(const std::string& text) {
  std::vector<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); labels.push_back(line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    line.erase(0, line.rfind('\t') + 1);  // npos + 1 is 0
  }
  return labels;
}

Tensor RowOf(const Tensor& tensor, int64_t i, int64_t rows) {
  Shape shape = tensor.shape();
  shape[0] = 1;
  const auto owner = std::make_shared<const Tensor>(tensor);
  const size_t bytes = tensor.bytes() / size_t(rows);
  return Tensor(tensor.type(), shape, static_cast<const std::byte*>(tensor.data()) + size_t(i) * bytes,
                owner);
}

}  // namespace mete
