// Folds pixels that become channels into the convolution behind them. A SpaceToDepth, or a Concat of slices
// that each have one pixel of every block (YOLO's Focus), followed by a Conv at stride 1, is a Conv of the
// image itself, with windows and strides larger by the side of a block: each weight belongs to one pixel.
// Only images of few channels gain: with more, the convolution over blocks may be the sooner one (Winograd).
#include "base/window.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

constexpr int64_t kMostChannels = 4;  // those of pictures

struct Place {
  int64_t row, column;  // in the block
};

// The blocks of an image: the channels of `image` at each of `places`, one behind the other.
struct Blocks {
  ValueId image = kNoValue;
  int64_t side = 0;
  std::vector<Place> places;
};

// What slices take of an image so far. Each axis has a start and a step.
struct Slices {
  ValueId image;
  int64_t start[2] = {0, 0}, step[2] = {1, 1};
};

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    bool changed = false;
    for (Node& node : graph_.nodes)
      if (IsFoldable(node)) changed |= Fold(node);
    return changed;
  }

 private:
  const Node* Producer(ValueId id) const {
    const int p = uses_.producer[size_t(id)];
    return p < 0 ? nullptr : &graph_.nodes[size_t(p)];
  }
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).shape; }

  // A Conv that reads every pixel of all channels, with padding that is stated.
  bool IsFoldable(const Node& node) const {
    if (node.op != "Conv" || !IsF32(graph_, node.inputs[0]) || !IsConstant(graph_, node.inputs[1]) ||
        !ShapeOf(node.inputs[0]).known() || ShapeOf(node.inputs[0]).rank() != 4)
      return false;
    const auto ones = [&](const char* name) {
      const Ints& values = node.attributes.IntList(name);
      return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1; });
    };
    return ones("strides") && ones("dilations") && node.attributes.Int("group", 1) == 1 &&
           StatedPads(node.attributes, 2);
  }

  bool Fold(Node& conv) {
    const Node* producer = Producer(conv.inputs[0]);
    if (!producer) return false;
    const auto blocks = producer->op == "SpaceToDepth" ? OfSpaceToDepth(*producer)
                        : producer->op == "Concat"     ? OfConcat(*producer)
                                                       : std::nullopt;
    if (!blocks || ShapeOf(blocks->image)[1] > kMostChannels) return false;
    const Tensor weights = graph_.value(conv.inputs[1]).constant;
    const int64_t height = weights.shape()[2], width = weights.shape()[3], side = blocks->side;
    conv.inputs[0] = blocks->image;
    conv.inputs[1] = graph_.AddConstant(conv.name + ".blocks", WeightsOf(*blocks, weights));
    conv.attributes.Set("kernel_shape", Ints{height * side, width * side});
    conv.attributes.Set("strides", Ints{side, side});
    Ints pads = *StatedPads(conv.attributes, 2);
    for (int64_t& pad : pads) pad *= side;
    conv.attributes.Set("pads", pads);
    conv.attributes.Erase("auto_pad");
    return true;
  }

  std::optional<Blocks> OfSpaceToDepth(const Node& node) const {
    Blocks blocks{node.inputs[0], node.attributes.Int("blocksize", 0), {}};
    for (int64_t i = 0; i < blocks.side * blocks.side; ++i)
      blocks.places.push_back({i / blocks.side, i % blocks.side});
    return blocks;
  }

  // A Concat of channels whose inputs are slices of one image, one for each place of the blocks.
  std::optional<Blocks> OfConcat(const Node& node) const {
    const int64_t axis = node.attributes.Int("axis", 0);
    if (axis != 1 && axis != -3) return std::nullopt;
    Blocks blocks;
    std::vector<bool> seen;
    for (const ValueId id : node.inputs) {
      const auto slices = SlicesOf(id);
      if (!slices || slices->step[0] != slices->step[1] || slices->step[0] < 2) return std::nullopt;
      const int64_t side = slices->step[0], at = slices->start[0] * side + slices->start[1];
      if (blocks.places.empty()) {
        blocks = {slices->image, side, {}};
        seen.resize(size_t(side * side));
      }
      if (slices->image != blocks.image || side != blocks.side || slices->start[0] >= side ||
          slices->start[1] >= side || seen[size_t(at)])
        return std::nullopt;
      seen[size_t(at)] = true;
      blocks.places.push_back({slices->start[0], slices->start[1]});
    }
    const Shape& image = ShapeOf(blocks.image);
    const bool whole = image[2] % blocks.side == 0 && image[3] % blocks.side == 0;
    if (!whole || int64_t(blocks.places.size()) != blocks.side * blocks.side) return std::nullopt;
    return blocks;
  }

  // Follows slices of rows and columns up to the image. Each keeps all pixels from its start on, at its step.
  std::optional<Slices> SlicesOf(ValueId id) const {
    Slices slices{id};
    for (const Node* node = Producer(id); node && node->op == "Slice"; node = Producer(slices.image)) {
      const Shape &in = ShapeOf(node->inputs[0]), &out = ShapeOf(node->outputs[0]);
      const auto starts = IntsOf(graph_, node->input(1)), axes = IntsOf(graph_, node->input(3)),
                 steps = IntsOf(graph_, node->input(4));
      if (!in.known() || in.rank() != 4 || !starts || !axes || !steps) return std::nullopt;
      for (size_t i = 0; i < axes->size(); ++i) {
        const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + 4 : (*axes)[i], start = (*starts)[i],
                      step = (*steps)[i];
        // A block is within the image, so that the number of its pixels is, too.
        if (axis < 2 || step < 1 || step > in[int(axis)] || start < 0 || start >= step ||
            slices.step[axis - 2] != 1 || out[int(axis)] != (in[int(axis)] - start + step - 1) / step)
          return std::nullopt;
        slices.start[axis - 2] = start;
        slices.step[axis - 2] = step;
      }
      slices.image = node->inputs[0];
    }
    return slices;
  }

  // The weight of pixel (y, x) of a block's place for the image's channels.
  static Tensor WeightsOf(const Blocks& blocks, const Tensor& from) {
    const Shape& s = from.shape();
    const int64_t side = blocks.side, count = side * side, channels = s[1] / count, h = s[2], w = s[3];
    Tensor to(DType::kF32, Shape{s[0], channels, h * side, w * side});
    const float* source = from.as<float>();
    float* out = to.mutable_view().as<float>();
    for (int64_t m = 0; m < s[0]; ++m)
      for (int64_t p = 0; p < count; ++p)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t y = 0; y < h; ++y)
            for (int64_t x = 0; x < w; ++x) {
              const Place& place = blocks.places[size_t(p)];
              const int64_t row = y * side + place.row, column = x * side + place.column;
              out[((m * channels + c) * h * side + row) * w * side + column] = *source++;
            }
    return to;
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

bool FoldBlocks(Graph& graph) { return Folder(graph).Run(); }

}  // namespace mete
