// A node that a CPU has made ready: its kernel is chosen and its weights are packed.
#pragma once

#include <span>
#include <string>

#include "mete/tensor.h"

namespace mete {

// Keeps what it needs; the Graph must outlive it.
class PreparedNode {
 public:
  virtual ~PreparedNode() = default;
  // Computes the node. Shapes and types are those that it was prepared for. Throws only for what depends on
  // the data (an index out of range).
  virtual void Execute(std::span<const ConstView> inputs, std::span<View> outputs) = 0;

  // What Execute() reads of an input. Nothing: a node that has packed its weights, which get null where they
  // have a source (base/tensor_source.h). Bytes: the input need not be aligned to its elements.
  enum class Reads { kNothing, kBytes, kElements };
  virtual Reads reads(size_t input) const {
    (void)input;
    return Reads::kElements;
  }

  virtual std::string kernel() const = 0;            // for people: "reference", "conv_f32 avx512"
  virtual std::string reason() const { return ""; }  // why this kernel was chosen
  virtual int64_t packed_bytes() const { return 0; }
  // The operations that this kernel computes for a node of `flops` (graph/flops.h): fewer where it is
  // Winograd's.
  virtual int64_t computed_flops(int64_t flops) const { return flops; }
};

}  // namespace mete
