// Folds blocks of pixels that go into the batch and come back (SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND of
// TensorFlow) into the dilation of the convolution between them: the pixels of a block lie in images of their
// own, in which neighbours are as far apart as the block is wide.
#include "base/window.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Images of N, C, H, W on the other side of a Reshape, a Transpose and a Reshape, and the size of a block.
struct Blocks {
  ValueId images = kNoValue;
  int64_t height = 1, width = 1;
};

class DilationFolder {
 public:
  explicit DilationFolder(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    bool changed = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) changed |= Fold(graph_.nodes[i]);
    return changed;
  }

 private:
  const Shape& ShapeOf(ValueId id) const { return graph_.value(id).shape; }

  const Node* Producer(ValueId id, std::string_view op) const {
    const int producer = uses_.producer[size_t(id)];
    if (producer < 0 || graph_.nodes[size_t(producer)].op != op) return nullptr;
    return &graph_.nodes[size_t(producer)];
  }
  const Node* Reader(ValueId id) const {
    return uses_.OnlyReader(id) ? &graph_.nodes[size_t(uses_.readers[size_t(id)][0])] : nullptr;
  }
  const Node* Reader(ValueId id, std::string_view op) const {
    const Node* reader = Reader(id);
    return reader && reader->op == op && reader->inputs[0] == id ? reader : nullptr;
  }

  // Whether `parts` are the images divided into blocks: N, C, H / b, b, W / c, c.
  static bool Divides(const Shape& images, const Shape& parts) {
    return images.known() && parts.known() && images.rank() == 4 && parts.rank() == 6 &&
           parts[0] == images[0] && parts[1] == images[1] && parts[3] > 0 && parts[5] > 0 &&
           parts[2] * parts[3] == images[2] && parts[4] * parts[5] == images[3];
  }
  // Whether `batch` are the images b * c * N, C, H / b, W / c.
  static bool IsBatch(const Shape& parts, const Shape& batch) {
    return batch == Shape{parts[3] * parts[5] * parts[0], parts[1], parts[2], parts[4]};
  }
  static bool Permutes(const Node& transpose, const Ints& perm) {
    return transpose.attributes.IntList("perm") == perm;
  }

  std::optional<Blocks> IntoBatch(ValueId batch) const {
    const Node* out = Producer(batch, "Reshape");
    const Node* moved = out ? Producer(out->inputs[0], "Transpose") : nullptr;
    const Node* divided = moved ? Producer(moved->inputs[0], "Reshape") : nullptr;
    if (!divided || !Permutes(*moved, {3, 5, 0, 1, 2, 4})) return std::nullopt;
    const ValueId images = divided->inputs[0];
    const Shape& parts = ShapeOf(divided->outputs[0]);
    if (!Divides(ShapeOf(images), parts) || !IsBatch(parts, ShapeOf(batch))) return std::nullopt;
    return Blocks{images, parts[3], parts[5]};
  }

  std::optional<Blocks> OutOfBatch(ValueId batch) const {
    const Node* divided = Reader(batch, "Reshape");
    const Node* moved = divided ? Reader(divided->outputs[0], "Transpose") : nullptr;
    const Node* out = moved ? Reader(moved->outputs[0], "Reshape") : nullptr;
    if (!out || !Permutes(*moved, {2, 3, 4, 0, 5, 1})) return std::nullopt;
    const ValueId images = out->outputs[0];
    const Shape& parts = ShapeOf(moved->outputs[0]);
    if (!Divides(ShapeOf(images), parts) || !IsBatch(parts, ShapeOf(batch))) return std::nullopt;
    return Blocks{images, parts[3], parts[5]};
  }

  // Returns the values from the output of a convolution to that of the last operator that computes each
  // element alone.
  std::vector<ValueId> AlongElements(ValueId id) const {
    std::vector<ValueId> values{id};
    for (const Node* reader = Reader(id);
         reader && IsOneOf(reader->op, {"Relu", "Clip", "LeakyRelu", "Tanh", "Sigmoid", "HardSwish"}) &&
         reader->inputs[0] == values.back();
         reader = Reader(values.back()))
      values.push_back(reader->outputs[0]);
    return values;
  }

  static bool AllOnes(const Ints& values) {
    return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1; });
  }

  bool Fold(Node& conv) {
    if (!IsOneOf(conv.op, {"Conv", "QLinearConv"}) || !AllOnes(conv.attributes.IntList("strides")))
      return false;
    const auto in = IntoBatch(conv.inputs[0]);
    const auto pads = StatedPads(conv.attributes, 2);
    if (!in || !pads) return false;
    const std::vector<ValueId> computed = AlongElements(conv.outputs[0]);
    const auto out = OutOfBatch(computed.back());
    if (!out || out->height != in->height || out->width != in->width) return false;
    const Shape shape = ShapeOf(out->images);
    if (shape[0] != ShapeOf(in->images)[0]) return false;
    const auto in_range = [](int64_t v) { return v <= INT32_MAX; };  // so that products do not overflow
    Ints dilations = conv.attributes.IntList("dilations");
    dilations.resize(2, 1);
    if (!std::all_of(dilations.begin(), dilations.end(), in_range) ||
        !std::all_of(pads->begin(), pads->end(), in_range) || !in_range(in->height) || !in_range(in->width))
      return false;
    const auto scaled = [&](Ints values) {
      for (size_t i = 0; i < values.size(); ++i) values[i] *= i % 2 == 0 ? in->height : in->width;
      return values;
    };
    conv.attributes.Set("dilations", scaled(dilations));
    conv.attributes.Set("pads", scaled(*pads));
    conv.attributes.Erase("auto_pad");
    conv.inputs[0] = in->images;
    for (const ValueId id : computed) graph_.value(id).shape = shape;
    ReplaceUses(graph_, out->images, computed.back());
    return true;
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

bool FoldDilation(Graph& graph) { return DilationFolder(graph).Run(); }

}  // namespace mete
