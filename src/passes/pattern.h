// Matching small expressions against a graph. A pattern is written as a term:
//   Mul(x, Sigmoid(x))         operators by name; Add and Mul match either order of operands
//   x, y                       lower-case: any value; the same letter is the same value
//   ?gamma                     any constant, captured under that name
//   0.5                        a constant with one element of that value, to 1e-4 relative
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
  explicit Pattern(std::string_view text);  // the text is ours: a mistake in it is an Error INTERNAL

  struct Match {
    std::map<std::string, ValueId> bound;  // by letter or name, without the '?'
    std::vector<int> nodes;                // matched nodes, the root first
    bool Has(const std::string& name) const { return bound.contains(name); }
  };

  // True where node `root` and its producers match and no value inside is read by anybody else.
  bool Matches(const Graph& graph, const Uses& uses, int root, Match* match) const;

 private:
  struct Term {
    std::string op;         // operator, or empty
    std::string name;       // value or captured constant
    bool constant = false;  // ?name
    double number = 0;      // where op and name are empty
    std::vector<Term> operands;
  };
  static Term Parse(std::string_view text, size_t* at);
  static bool MatchValue(const Graph& graph, const Uses& uses, const Term& term, ValueId id, Match* match);
  static bool MatchNode(const Graph& graph, const Uses& uses, const Term& term, int n, Match* match);
  static bool MatchOperands(const Graph& graph, const Uses& uses, const Term& term, const Node& node,
                            bool swapped, Match* match);

  Term root_;
};

}  // namespace mete
