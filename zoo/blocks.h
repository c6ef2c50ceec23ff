// Blocks that several architectures have in common.
#pragma once

#include "zoo/builder.h"

namespace mete::zoo {

enum class Act { kNone, kRelu, kRelu6, kLeaky, kSwish, kHardSwish };

Tensor Activate(GraphBuilder& b, const Tensor& x, Act act);

// A convolution with batch normalisation and an activation; Depthwise has a filter for each channel.
Tensor Unit(GraphBuilder& b, const Tensor& x, int channels, int window, int stride, Act act);
Tensor Depthwise(GraphBuilder& b, const Tensor& x, int window, int stride, Act act, int dilation = 1);

struct Inverted {
  int expanded, channels, window, stride;
  Act act;
  int squeezed = 0;  // channels of the squeeze-excite's narrow layer; 0: no squeeze-excite
  int dilation = 1;
};

// The inverted residual of MobileNet v2 and v3 and of EfficientNet.
Tensor InvertedResidual(GraphBuilder& b, const Tensor& x, const Inverted& p);

// Interleaves the channels of the groups: channel c of group g becomes channel g of tuple c.
Tensor Shuffle(GraphBuilder& b, const Tensor& x, int groups);

// The unit of ShuffleNet v2; with `down` it halves height and width.
Tensor ShuffleUnit(GraphBuilder& b, const Tensor& x, int channels, bool down, Act act);

}  // namespace mete::zoo
