// Random graphs over images, with branches, for property tests. They contain every operator with a rule for
// rows, and some without.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "passes/graphs_testing.h"

namespace mete {

class RandomGraph : public Builder {
 public:
  explicit RandomGraph(uint32_t seed, int nodes) : Builder(seed), random_(seed) {
    made_.push_back(Input({Pick(1, 2), 2 * Pick(1, 4), Pick(5, 20), Pick(5, 12)}));
    for (int i = 0; i < nodes; ++i) Grow();
    InferShapes(graph);
    const Uses uses(graph);
    for (ValueId id : made_)
      if (uses.readers[size_t(id)].empty() && uses.producer[size_t(id)] >= 0) Output(id);
    Settle(graph);
  }

  int64_t Pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

 private:
  const Shape& ShapeAt(ValueId id) { return graph.value(id).shape; }
  ValueId Some() {
    return made_[size_t(Pick(std::max<int64_t>(0, int64_t(made_.size()) - 4), int64_t(made_.size()) - 1))];
  }
  // Returns a random value of the shape of `x`, which may be `x` itself.
  ValueId Like(ValueId x) {
    std::vector<ValueId> like;
    for (ValueId id : made_)
      if (ShapeAt(id) == ShapeAt(x)) like.push_back(id);
    return like[size_t(Pick(0, int64_t(like.size()) - 1))];
  }

  enum class Window { kConvolution, kPool };
  Attributes WindowOf(const Shape& x, int64_t* kernel, Window window) {
    Attributes a;
    kernel[0] = std::min<int64_t>(Pick(1, 4), x[2]);
    kernel[1] = std::min<int64_t>(Pick(1, 3), x[3]);
    a.Set("strides", mete::Ints{Pick(1, 3), Pick(1, 2)});
    const int64_t dilation =
        window == Window::kConvolution && kernel[0] > 1 && (kernel[0] - 1) * 2 < x[2] ? Pick(1, 2) : 1;
    a.Set("dilations", mete::Ints{dilation, 1});
    const int64_t padding = Pick(0, 3);
    if (padding == 3) a.Set("auto_pad", std::string(Pick(0, 1) ? "SAME_UPPER" : "SAME_LOWER"));
    else
      a.Set("pads", mete::Ints{Pick(0, kernel[0] - 1), Pick(0, kernel[1] - 1), Pick(0, kernel[0] - 1),
                               Pick(0, kernel[1] - 1)});
    return a;
  }

  ValueId RandomConv(ValueId x) {
    int64_t kernel[2];
    Attributes a = WindowOf(ShapeAt(x), kernel, Window::kConvolution);
    const int64_t channels = ShapeAt(x)[1],
                  group = channels % 2 == 0 ? std::vector<int64_t>{1, 2, channels}[size_t(Pick(0, 2))] : 1;
    const int64_t out = group * Pick(1, 3);
    a.Set("group", group);
    std::vector<ValueId> in{x, Weight({out, channels / group, kernel[0], kernel[1]})};
    if (Pick(0, 1)) in.push_back(Weight({out}));
    return Op("Conv", in, a);
  }

  ValueId RandomPool(ValueId x) {
    int64_t kernel[2];
    Attributes a = WindowOf(ShapeAt(x), kernel, Window::kPool);
    a.Erase("dilations");
    a.Set("kernel_shape", mete::Ints{kernel[0], kernel[1]});
    a.Set("ceil_mode", Pick(0, 1));
    if (Pick(0, 1)) return Op("MaxPool", {x}, a);
    a.Set("count_include_pad", Pick(0, 1));
    return Op("AveragePool", {x}, a);
  }

  ValueId RandomTransposed(ValueId x) {
    Attributes a;
    const int64_t stride = Pick(1, 3), kernel = Pick(1, 4);
    a.Set("strides", mete::Ints{stride, 1});
    if (Pick(0, 2) == 0) {
      a.Set("auto_pad", std::string("SAME_UPPER"));
    } else {
      a.Set("pads", mete::Ints{Pick(0, (kernel - 1) / 2), 0, Pick(0, (kernel - 1) / 2), 0});
      a.Set("output_padding", mete::Ints{Pick(0, stride - 1), 0});
    }
    return Op("ConvTranspose", {x, Weight({ShapeAt(x)[1], Pick(1, 3), kernel, Pick(1, 2)})}, a);
  }

  ValueId RandomPad(ValueId x) {
    Attributes a;
    return Op("Pad", {x, Ints({0, 0, Pick(0, 2), 1, 0, 0, Pick(0, 2), 0}), Scalar(0.5f)}, a);
  }

  ValueId RandomSlice(ValueId x) {
    const int64_t rows = ShapeAt(x)[2];
    return Op("Slice", {x, Ints({Pick(0, rows / 3), 0}), Ints({-Pick(1, 2), 100}), Ints({2, 3}),
                        Ints({Pick(1, 2), 1})});
  }

  // Splits the channels in two, changes one part, and concatenates them in the other order.
  ValueId RandomSplit(ValueId x) {
    const int64_t channels = ShapeAt(x)[1];
    if (channels < 2) return Op("Relu", {x});
    const ValueId a = graph.AddValue(Name()), b = graph.AddValue(Name());
    Attributes split, concat;
    split.Set("axis", int64_t(1));
    concat.Set("axis", int64_t(1));
    graph.AddNode("Split", "Split" + std::to_string(graph.nodes.size()), {x, Ints({1, channels - 1})}, {a, b},
                  split);
    return Op("Concat", {Op("Sigmoid", {b}), a}, concat);
  }

  ValueId Shuffle(ValueId x) {
    const Shape s = ShapeAt(x);
    if (s[1] % 2 != 0) return Op("Neg", {x});
    Attributes swap;
    swap.Set("perm", mete::Ints{0, 2, 1, 3, 4});
    const ValueId apart = Op("Reshape", {x, Ints({s[0], 2, s[1] / 2, s[2], s[3]})});
    return Op("Reshape", {Op("Transpose", {apart}, swap), Ints({0, -1, s[2], s[3]})});
  }

  // Repeats rows, by scales or by sizes, or interpolates them, which no rule divides.
  ValueId RandomResize(ValueId x) {
    Attributes a;
    const Shape& s = ShapeAt(x);
    const int64_t scale = Pick(1, 3), kind = Pick(0, 3);
    if (kind == 0) a.Set("mode", std::string("linear"));
    if (kind == 1) {
      a.Set("coordinate_transformation_mode", std::string("asymmetric"));
      a.Set("nearest_mode", std::string("floor"));
    }
    if (Pick(0, 1))
      return Op("Resize", {x, kNoValue, kNoValue, Ints({s[0], s[1], scale * s[2], s[3] + Pick(0, 1)})}, a);
    return Op("Resize", {x, kNoValue, Floats({1, 1, float(scale), kind == 2 ? 2.0f : 1.5f})}, a);
  }

  // Moves groups of channels to neighbouring pixels.
  ValueId Shuffled(ValueId x) {
    if (ShapeAt(x)[1] % 4 != 0) return RandomResize(x);
    Attributes a;
    a.Set("blocksize", int64_t(2));
    return Op("DepthToSpace", {x}, a);
  }

  ValueId Joined(ValueId x) {
    const ValueId y = Like(x);
    switch (Pick(0, 4)) {
      case 0: return Op("Add", {x, y});
      case 1: return Op("Mul", {x, Weight({ShapeAt(x)[1], 1, 1})});
      case 2: return Op("Mul", {x, Op("GlobalAveragePool", {y})});
      case 3: return Op("PRelu", {x, Weight({ShapeAt(x)[1], 1, 1})});
      default: {
        Attributes a;
        a.Set("axis", int64_t(1));
        return Op("Concat", {x, y}, a);
      }
    }
  }

  ValueId Normal(ValueId x) {
    Attributes a;
    switch (Pick(0, 4)) {
      case 0: return BatchNorm(x, ShapeAt(x)[1]);
      case 1: a.Set("size", int64_t(3)); return Op("LRN", {x}, a);
      case 2: a.Set("axis", Pick(1, 3)); return Op("Softmax", {x}, a);
      case 3: return Op("LayerNormalization", {x, Weight({ShapeAt(x)[3]})}, a);
      default: return Op("MatMul", {x, Weight({ShapeAt(x)[3], Pick(2, 5)})});
    }
  }

  ValueId Moved(ValueId x) {
    Attributes a;
    switch (Pick(0, 6)) {
      case 5: return RandomResize(x);
      case 6: return Shuffled(x);
      case 0: return RandomPad(x);
      case 1: return RandomSlice(x);
      case 2: return RandomSplit(x);
      case 3: return Shuffle(x);
      default: a.Set("perm", mete::Ints{0, 1, 3, 2}); return Op("Transpose", {x}, a);
    }
  }

  void Grow() {
    const ValueId x = Some();
    ValueId y = kNoValue;
    switch (Pick(0, 9)) {
      case 0:
      case 1:
      case 2: y = RandomConv(x); break;
      case 3: y = RandomPool(x); break;
      case 4: y = RandomTransposed(x); break;
      case 5: y = Op("Relu", {x}); break;
      case 6:
      case 7: y = Joined(x); break;
      case 8: y = Normal(x); break;
      default: y = Moved(x); break;
    }
    InferShapes(graph);
    if (ShapeAt(y).Elements() > 0 && ShapeAt(y).Elements() < 40000) made_.push_back(y);
  }

  std::vector<ValueId> made_;
  std::mt19937 random_;
};

}  // namespace mete
