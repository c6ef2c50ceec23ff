// A ConvTranspose as a Conv with a DepthToSpace behind it.
//
// With the stride s, output position o is made of the inputs at i where o + p - i * s is a tap of the kernel
// (p: the padding at the beginning). For o + p = q * s + r these are the inputs q, q - 1, ... with the taps
// r, r + s, ...: for each of the s * s rests r of both axes a convolution at stride 1, with a window of
// kernel / s, rounded up. One Conv computes all of them as channels, DepthToSpace brings them to their
// places, and a Slice removes the padding. At stride 1 the Conv is all there is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace mete {

struct TransposedGeometry {
  Shape x, y;
  int64_t stride;
  int64_t in_channels, channels;  // `channels` of the output
  int64_t kernel[2], taps[2];     // taps: the window of the Conv
  int64_t begin[2];               // padding

  // The output of the Conv, with the channels of all rests.
  Shape products() const {
    return {x[0], stride * stride * channels, x[2] + taps[0] - 1, x[3] + taps[1] - 1};
  }
};

// Returns the geometry of a ConvTranspose of f32 that can be written as a Conv, nothing for others.
std::optional<TransposedGeometry> TransposedGeometryOf(const Graph& graph, const Node& node);

// Returns the weights of the Conv: output channel (row rest * s + column rest) * channels + c, as
// DepthToSpace reads them. Taps beyond the kernel are `zeros`, which has the type of the weights, and an
// element for each c or one for all.
Tensor ConvWeightsOf(const TransposedGeometry& g, const Tensor& weights, const Tensor& zeros);

// Returns what belongs to the output channels of the Conv, such as its bias, from what belongs to those of
// the ConvTranspose.
Tensor ForEachRest(const TransposedGeometry& g, const Tensor& of_channels);

// Returns whether the Conv makes the output itself, because the stride is 1. Otherwise it makes a value of
// g.products().
bool IsConvAlone(const TransposedGeometry& g);

Attributes ConvAttributesOf(const TransposedGeometry& g);

// Adds what brings `products`, in floats or bytes, to their places in the output `y`.
void AddPlacement(Graph& graph, const std::string& name, const TransposedGeometry& g, ValueId products,
                  ValueId y);

}  // namespace mete
