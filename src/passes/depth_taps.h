// Volumes (N x C x D x H x W) as slices, a batch of images, and windows along the depth over them. The depth
// is outermost (D * N x C x H x W), so that the slices of neighbouring depths are neighbours in memory
// whatever the batch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/window.h"
#include "graph/graph.h"

namespace mete {

// The most taps along the depth, each of which has nodes of its own. A guess: networks that make patches of
// videos have 16 at most.
inline constexpr int64_t kMostTaps = 32;

struct SlicesOfBatch {
  ValueId id;     // D * N x C x H x W
  int64_t batch;  // N
};

inline Shape ShapeOfSlices(const Shape& volume) {
  return {volume[2] * volume[0], volume[1], volume[3], volume[4]};
}

// Adds the nodes that make slices of a volume, or the volume of its slices.
ValueId CutVolume(Graph& graph, ValueId volume);
void JoinSlices(Graph& graph, ValueId slices, ValueId volume);

// Views of slices as D x N * C x H x W, where an index of the first axis is a depth, and back.
ValueId AsDepths(Graph& graph, const std::string& name, SlicesOfBatch slices);
ValueId AsSlices(Graph& graph, const std::string& name, SlicesOfBatch depths);

// The slices from index `first` of a dimension on, `step` apart, without the last ones.
struct Cut {
  int64_t first, left_out, step;
};

// Adds the node that cuts `count` slices out of the first dimension, if there is anything to leave out.
ValueId CutSlices(Graph& graph, const std::string& name, ValueId from, const Cut& cut, int64_t count);

// Returns the window of a convolution or pool over the volumes of shape `x`; nothing if it is not written as
// one over slices.
std::optional<Window> WindowOfTaps(const Attributes& attributes, const Shape& x, const Ints& kernel,
                                   WindowKind kind);
// The attributes of the same window over each slice.
Attributes OfSlices(const Attributes& attributes);

// Returns how many slices behind the last one a window reads. Windows may end before the padding that the
// file states, and with ceil_mode behind it.
int64_t PadEnd(const WindowAxis& depth);

// The taps of a window along the depth. Padding has the value `fill`, one element; kNoValue: 0.
class DepthTaps {
 public:
  DepthTaps(Graph& graph, std::string name, SlicesOfBatch slices, const WindowAxis& depth,
            ValueId fill = kNoValue);

  int64_t size() const { return depth_.kernel; }
  // Adds the nodes that make the slices which tap `k` reads, one for each slice of the output. A tap is added
  // right before its reader, so that the memory of the one before is free.
  ValueId Add(int64_t k) const;

 private:
  Graph& graph_;
  const std::string name_;
  const WindowAxis depth_;
  const SlicesOfBatch padded_;
};

}  // namespace mete
