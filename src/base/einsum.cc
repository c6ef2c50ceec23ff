#include "base/einsum.h"

#include <algorithm>

#include "base/error.h"

namespace mete {
namespace {

constexpr int kDots = 256;  // label kDots + d is dimension d of an ellipsis, counted from the last

using Labels = std::vector<int>;  // one label per dimension

class Parser {
 public:
  Parser(const std::string& where, std::string_view equation) : where_(where), equation_(equation) {}

  template <class... A>
  [[noreturn]] void Bad(fmt::format_string<A...> format, A&&... args) const {
    Invalid(where_, "equation '{}' {}", equation_, fmt::format(format, std::forward<A>(args)...));
  }

  // Returns the labels of a term whose ellipsis stands for `dots` dimensions.
  Labels Term(std::string_view term, int dots) const {
    Labels labels;
    bool seen = false;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term.substr(i, 3) == "...") {
        if (seen) Bad("has two ellipses in a term");
        seen = true;
        i += 2;
        for (int d = dots - 1; d >= 0; --d) labels.push_back(kDots + d);
      } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
        labels.push_back(term[i]);
      } else {
        Bad("holds '{}'; expected letters, commas, '...' and '->'", term[i]);
      }
    }
    return labels;
  }

  Labels OperandTerm(std::string_view term, int rank) const {
    const bool has_dots = term.find("...") != std::string_view::npos;
    const int letters = int(term.size()) - (has_dots ? 3 : 0);
    if (has_dots ? letters > rank : letters != rank)
      Bad("has a term '{}' for an operand of {} dimensions", term, rank);
    return Term(term, rank - letters);
  }

 private:
  const std::string& where_;
  std::string_view equation_;
};

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// Returns the output's labels of an equation without "->": the ellipsis's dimensions, then the letters that
// appear once, in ASCII order.
Labels ImplicitOutput(const std::vector<Labels>& operands) {
  std::array<int, kDots> count{};
  int dots = 0;
  for (const Labels& labels : operands)
    for (int label : labels) {
      if (label < kDots) ++count[size_t(label)];
      else dots = std::max(dots, label - kDots + 1);
    }
  Labels output;
  for (int d = dots - 1; d >= 0; --d) output.push_back(kDots + d);
  for (int letter = 0; letter < kDots; ++letter)
    if (count[size_t(letter)] == 1) output.push_back(letter);
  return output;
}

int MostDots(const std::vector<Labels>& operands) {
  int dots = 0;
  for (const Labels& labels : operands)
    for (int label : labels) dots = std::max(dots, label - kDots + 1);
  return dots;
}

}  // namespace

Einsum::Einsum(const std::string& where, std::string_view equation, std::span<const Shape> operands) {
  std::string text(equation);
  std::erase(text, ' ');
  const Parser parser(where, text);
  const size_t arrow = text.find("->");
  const auto terms = SplitAtCommas(std::string_view(text).substr(0, arrow));
  if (terms.size() != operands.size())
    parser.Bad("has {} terms for {} operands", terms.size(), operands.size());
  std::vector<Labels> labels;
  for (size_t i = 0; i < terms.size(); ++i)
    labels.push_back(parser.OperandTerm(terms[i], operands[i].rank()));

  const bool is_explicit = arrow != std::string::npos;
  Labels order = is_explicit ? parser.Term(std::string_view(text).substr(arrow + 2), MostDots(labels))
                             : ImplicitOutput(labels);
  output_indices = int(order.size());
  if (output_indices > Shape::kMaxRank)
    parser.Bad("gives {} dimensions; expected at most {}", output_indices, int(Shape::kMaxRank));
  for (int i = 0; i < output_indices; ++i)
    if (std::count(order.begin(), order.end(), order[size_t(i)]) > 1)
      parser.Bad("repeats an index in its output");
  for (const Labels& operand : labels)
    for (int label : operand)
      if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);

  extents.assign(order.size(), -1);
  steps.assign(operands.size(), std::vector<int64_t>(order.size(), 0));
  indices.resize(operands.size());
  for (size_t k = 0; k < operands.size(); ++k)
    for (int d = 0; d < operands[k].rank(); ++d) {
      const size_t index =
          size_t(std::find(order.begin(), order.end(), labels[k][size_t(d)]) - order.begin());
      indices[k].push_back(int(index));
      const int64_t extent = operands[k][d];
      int64_t& common = extents[index];
      if (common >= 0 && extent != common && extent != 1 && common != 1)
        parser.Bad("gives one index two extents; got {} and {}", common, extent);
      if (common < 0 || common == 1) common = extent;
      if (extent != 1) steps[k][index] += operands[k].Elements(d + 1, operands[k].rank());
    }
  for (int i = 0; i < output_indices; ++i)
    if (extents[size_t(i)] < 0) {
      if (order[size_t(i)] < kDots)
        parser.Bad("has an output index '{}' that no operand has", char(order[size_t(i)]));
      else extents[size_t(i)] = 1;
    }
}

}  // namespace mete
