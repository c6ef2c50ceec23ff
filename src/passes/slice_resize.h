// Resizes of volumes as one along the depth, of rows that are whole slices, and one of each slice.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "passes/depth_taps.h"

namespace mete {

struct SliceResize {
  Ints depth, image;  // the axes among 2, 3 and 4 of the volume that change
  bool depth_first = true;
  bool has_fast_kernel = false;  // for the volume as it is (dispatch/resize.h)
};

// Returns what a Resize of a volume changes; nothing if it is not written as resizes over slices.
std::optional<SliceResize> SliceResizeOf(const Graph& graph, const Node& node);
// Adds the resizes of these slices and returns the slices of the result.
ValueId AddSliceResize(Graph& graph, const Node& node, const SliceResize& resize, SlicesOfBatch slices);

}  // namespace mete
