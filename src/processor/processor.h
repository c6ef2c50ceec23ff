// The interface of whatever computes a share of a step: today a CPU; a GPU, a board and a simulated one
// later, each in a folder of its own.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "graph/graph.h"
#include "plan/plan.h"

namespace mete {

// One step made ready: weights packed, kernel chosen. Keeps what it needs; the Graph must outlive it.
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Computes the step. Shapes and types are those it was prepared for. Throws only for what depends on
  // the data (an index out of range).
  virtual void Execute(std::span<const ConstView> inputs, std::span<View> outputs) = 0;

  virtual std::string kernel() const = 0;            // for people: "reference", "conv_f32 avx512"
  virtual std::string reason() const { return ""; }  // why this one
  virtual int64_t packed_bytes() const { return 0; }
  // Operations that this kernel computes for a node of `flops` (graph/flops.h): fewer where it is Winograd's.
  virtual int64_t computed_flops(int64_t flops) const { return flops; }
};

class Processor {
 public:
  virtual ~Processor() = default;
  virtual const char* name() const = 0;
  // Empty where the node can be computed here, else the reason why not.
  virtual std::string WhyNot(const Graph& graph, const Node& node) const = 0;
  // Everything that can fail for reasons known beforehand fails here.
  virtual std::unique_ptr<Prepared> Prepare(const Graph& graph, const Node& node, const Step& step) = 0;
};

}  // namespace mete
