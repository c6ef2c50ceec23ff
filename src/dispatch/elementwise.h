// Selects the fused element-wise programs that the fast kernel computes and describes each in the kernel's
// terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "kernels/fast/elementwise/elementwise.h"

namespace mete {

struct ElementwiseInput {
  Broadcast spread = Broadcast::kFull;
  bool per_image = false;  // an input of kChannel has other elements for each image
};

struct Elementwise {
  ElementwisePlan plan;
  std::vector<ElementwiseInput> inputs;
  int64_t images = 1, elements = 0;  // the program runs image by image

  std::string kernel() const { return "elementwise_f32"; }
};

// Returns how an input is broadcast to the output; nothing for broadcasts that no fast kernel computes. An
// input of N x 1 x ... x C (the gate of a squeeze-and-excite block) is per channel within each image.
std::optional<ElementwiseInput> ElementwiseInputOf(const Shape& in, const Shape& out);

// Returns the program of a mete.Elementwise. Returns nothing if only the reference kernel can compute it;
// `why` then receives the reason.
std::optional<Elementwise> ElementwiseOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
