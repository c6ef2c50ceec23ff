#include "passes/pattern.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

void SkipSpace(std::string_view text, size_t* at) {
  while (*at < text.size() && text[*at] == ' ') ++*at;
}

}  // namespace

Pattern::Pattern(std::string_view text) {
  size_t at = 0;
  root_ = Parse(text, &at);
  if (at != text.size()) Fail(Code::kInternal, "pattern", "trailing text in '{}'", std::string(text));
}

Pattern::Term Pattern::Parse(std::string_view text, size_t* at) {
  SkipSpace(text, at);
  Term term;
  const size_t start = *at;
  while (*at < text.size() && std::string_view("(), ").find(text[*at]) == std::string_view::npos) ++*at;
  const std::string word(text.substr(start, *at - start));
  if (word.empty()) Fail(Code::kInternal, "pattern", "a term is missing in '{}'", std::string(text));
  if (*at < text.size() && text[*at] == '(') {
    term.op = word;
    do {
      ++*at;
      term.operands.push_back(Parse(text, at));
      SkipSpace(text, at);
    } while (*at < text.size() && text[*at] == ',');
    if (*at >= text.size()) Fail(Code::kInternal, "pattern", "no closing bracket in '{}'", std::string(text));
    ++*at;
  } else if (word[0] == '?') {
    term.constant = true;
    term.name = word.substr(1);
  } else if (std::islower(static_cast<unsigned char>(word[0]))) {
    term.name = word;
  } else {
    term.number = std::stod(word);
  }
  return term;
}

bool Pattern::Matches(const Graph& graph, const Uses& uses, int root, Match* match) const {
  if (!MatchNode(graph, uses, root_, root, match)) return false;
  for (size_t i = 1; i < match->nodes.size(); ++i) {  // inner values may be read only by matched nodes
    const ValueId out = graph.nodes[size_t(match->nodes[i])].outputs[0];
    if (uses.is_output[size_t(out)]) return false;
    for (int reader : uses.readers[size_t(out)])
      if (std::find(match->nodes.begin(), match->nodes.end(), reader) == match->nodes.end()) return false;
  }
  return true;
}

bool Pattern::MatchValue(const Graph& graph, const Uses& uses, const Term& term, ValueId id, Match* match) {
  if (id == kNoValue) return false;
  if (!term.op.empty())
    return uses.producer[size_t(id)] >= 0 && MatchNode(graph, uses, term, uses.producer[size_t(id)], match);
  if (term.name.empty()) {
    const auto value = ScalarOf(graph, id);
    return value && std::abs(*value - term.number) <= 1e-4 * std::abs(term.number);
  }
  if (term.constant && !IsConstant(graph, id)) return false;
  const auto [at, fresh] = match->bound.emplace(term.name, id);
  return fresh || at->second == id;
}

bool Pattern::MatchNode(const Graph& graph, const Uses& uses, const Term& term, int n, Match* match) {
  const Node& node = graph.nodes[size_t(n)];
  if (node.op != term.op || node.inputs.size() < term.operands.size()) return false;
  const Match before = *match;
  match->nodes.push_back(n);
  if (MatchOperands(graph, uses, term, node, Operands::kInOrder, match)) return true;
  *match = before;
  if (!IsOneOf(node.op, {"Add", "Mul"})) return false;
  match->nodes.push_back(n);
  if (MatchOperands(graph, uses, term, node, Operands::kSwapped, match)) return true;
  *match = before;
  return false;
}

bool Pattern::MatchOperands(const Graph& graph, const Uses& uses, const Term& term, const Node& node,
                            Operands operands, Match* match) {
  for (size_t i = 0; i < term.operands.size(); ++i)
    if (!MatchValue(graph, uses, term.operands[i], node.inputs[operands == Operands::kSwapped ? 1 - i : i],
                    match))
      return false;
  return true;
}

}  // namespace mete
