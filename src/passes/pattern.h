// Matches small expressions against a graph. A pattern is written as a term:
//   Mul(x, Sigmoid(x))         operators by name; Add and Mul match either order of operands
//   x, y                       lower-case names match any value; equal names must match the same value
//   ?gamma                     matches any constant and captures it under that name
//   0.5                        matches a constant with one element of that value, to 1e-4 relative
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace mete {

class Pattern {
 public:
  // Patterns are part of Mete's code, so a mistake in `text` is an Error INTERNAL.
  explicit Pattern(std::string_view text);

  struct Match {
    std::map<std::string, ValueId> bound;  // by name, without the '?'
    std::vector<int> nodes;                // matched nodes, the root first
    bool Has(const std::string& name) const { return bound.contains(name); }
  };

  // Returns true if node `root` and its producers match, and no inner value is read outside the match.
  bool Matches(const Graph& graph, const Uses& uses, int root, Match* match) const;

 private:
  struct Term {
    std::string op;         // name of an operator, or empty
    std::string name;       // name of a value or of a captured constant
    bool constant = false;  // true for ?name
    double number = 0;      // the number, if op and name are empty
    std::vector<Term> operands;
  };
  enum class Operands { kInOrder, kSwapped };

  static Term Parse(std::string_view text, size_t* at);
  static bool MatchValue(const Graph& graph, const Uses& uses, const Term& term, ValueId id, Match* match);
  static bool MatchNode(const Graph& graph, const Uses& uses, const Term& term, int n, Match* match);
  static bool MatchOperands(const Graph& graph, const Uses& uses, const Term& term, const Node& node,
                            Operands operands, Match* match);

  Term root_;
};

}  // namespace mete
