// Selects the fused element-wise programs, comparisons and Where that fast kernels compute and describes each
// in the kernels' terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/elementwise/compare.h"
#include "kernels/fast/elementwise/elementwise.h"
#include "kernels/fast/elementwise/select.h"

namespace mete {

struct Elementwise {
  ElementwisePlan plan;
  int64_t elements = 0;

  std::string kernel() const { return "elementwise_f32"; }
};

// Returns the program of a mete.Elementwise. Returns nothing if only the reference kernel can compute it;
// `why` then receives the reason.
std::optional<Elementwise> ElementwiseOf(const Graph& graph, const Node& node, std::string* why);

// A Where of f32.
struct Selection {
  SelectPlan plan;
  int64_t elements = 0;

  std::string kernel() const { return "select_f32"; }
};

// Returns nothing if only the reference kernel can compute the Where; `why` then receives the reason.
std::optional<Selection> SelectionOf(const Graph& graph, const Node& node, std::string* why);

// A comparison of f32 or i64, or And or Or.
struct Comparison {
  ComparePlan plan;
  bool swapped = false;  // the plan's first operand is the node's second input
  int64_t elements = 0;

  std::string kernel() const;
};

// Returns nothing if only the reference kernel can compute the comparison; `why` then receives the reason.
std::optional<Comparison> ComparisonOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
