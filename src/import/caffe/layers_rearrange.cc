// Conversions of layers that move blocks of channels or pixels, or repeat them: ShuffleChannel, Reorg and
// Tile.
#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

using mete::Ints;

// ShuffleNet's: channel k of group g becomes channel k * groups + g.
void ShuffleChannel(Layer& l) {
  const Shape in = l.shape();
  const int64_t groups = l.p.shuffle_channel_param().group();
  if (in.rank() < 2 || in.rank() == Shape::kMaxRank)
    l.Bad("ShuffleChannel needs 2 to {} dimensions; got {}", Shape::kMaxRank - 1, ToString(in));
  if (groups < 1 || in[1] % groups) l.Bad("group must divide the channels; got {} for {}", groups, in[1]);
  Shape split{in[0], groups, in[1] / groups};
  Ints swapped{0, 2, 1};
  for (int i = 2; i < in.rank(); ++i) {
    split.push_back(in[i]);
    swapped.push_back(i + 1);
  }
  Attributes a;
  a.Set("perm", swapped);
  l.SetTop(0, l.EmitReshape(l.Emit("Transpose", {l.EmitReshape(l.in(), split)}, a), in));
}

// The layer of YOLO v2. Blocks of pixels become channels, but the input's bytes are read as a picture that is
// `stride` times as wide and high and has fewer channels. `reverse` turns channels into blocks of pixels.
void Reorg(Layer& l) {
  const auto& p = l.p.reorg_param();
  const Shape in = l.shape();
  const int64_t s = p.stride();
  if (in.rank() != 4) l.Bad("Reorg needs 4 dimensions; got {}", ToString(in));
  if (s < 1 || s > in[1] || in[1] % (s * s) || (!p.reverse() && (in[2] % s || in[3] % s)))
    l.Bad("stride must be from 1 on and divide {}; got {} for {}",
          p.reverse() ? "the channels twice" : "height, width, and the channels twice", s, ToString(in));
  Attributes a;
  a.Set("blocksize", s);
  if (p.reverse()) return l.SetTop(0, l.Emit("DepthToSpace", {l.in()}, a));
  const ValueId wide = l.EmitReshape(l.in(), Shape{in[0], in[1] / (s * s), in[2] * s, in[3] * s});
  l.SetTop(
      0, l.EmitReshape(l.Emit("SpaceToDepth", {wide}, a), Shape{in[0], in[1] * s * s, in[2] / s, in[3] / s}));
}

void Tile(Layer& l) {
  const auto& p = l.p.tile_param();
  if (p.tiles() < 1) l.Bad("tiles must be from 1 on; got {}", p.tiles());
  Ints repeats(size_t(l.shape().rank()), 1);
  repeats[size_t(l.Axis(p.axis()))] = p.tiles();
  l.SetTop(0, l.Emit("Tile", {l.in(), l.Ints("repeats", repeats)}));
}

constexpr LayerType kRearrangeLayers[] = {
    {"Reorg", 1, 1, 1, Reorg},
    {"ShuffleChannel", 1, 1, 1, ShuffleChannel},
    {"Tile", 1, 1, 1, Tile},
};

}  // namespace

std::span<const LayerType> RearrangeLayers() { return kRearrangeLayers; }

}  // namespace mete::caffe_import
