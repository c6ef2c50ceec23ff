// The control flow operators If, Loop and Scan over bodies that somebody else computes: which body runs, how
// often, and what it gets and gives. graph/bodies.h says how a node has its bodies.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/attributes.h"
#include "base/growing_tensor.h"
#include "mete/tensor.h"

namespace mete {

// Computes a body.
class Body {
 public:
  virtual ~Body() = default;
  virtual size_t outputs() const = 0;
  // `results`: one for each output.
  virtual void Run(std::span<const ConstView> inputs, std::span<GrowingTensor> results) = 0;
  // Returns the type and the shape that output i would have, as far as the shapes of the inputs tell them.
  virtual ConstView Expected(std::span<const ConstView> inputs, size_t i) = 0;
};

struct ControlFlowArgs {
  const Attributes& attributes;
  std::span<const ConstView> in;  // those of the node: the captures are the last ones
  size_t captures;
  // Returns memory for output i; the view is not present() if the output has no reader.
  std::function<View(size_t i, DType type, const Shape& shape)> output;
};

void RunIf(const ControlFlowArgs& args, Body& then_branch, Body& else_branch);
void RunLoop(const ControlFlowArgs& args, Body& body);
void RunScan(const ControlFlowArgs& args, Body& body);

}  // namespace mete
