#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/half.h"
#include "base/tensor_source.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

class HalfBuilder : public Builder {
 public:
  explicit HalfBuilder(DType type = DType::kF16) : type_(type) {}

  ValueId Input(const Shape& shape) {
    const ValueId id = Builder::Input(shape);
    graph.value(id).type = type_;
    return id;
  }
  // Halves between -1 and 1.
  ValueId Weight(const Shape& shape) {
    Tensor t(type_, shape);
    for (int64_t i = 0; i < t.elements(); ++i) {
      const float value = std::sin(float(i));
      t.mutable_view().as<uint16_t>()[i] = type_ == DType::kF16 ? F32ToF16(value) : F32ToBF16(value);
    }
    return graph.AddConstant(Name(), t);
  }
  ValueId CastTo(ValueId x, const char* type) {
    Attributes to;
    to.Set("to", std::string(type));
    return Op("Cast", {x}, to);
  }

 private:
  const DType type_;
};

Tensor Random(DType type, const Shape& shape) {
  Tensor t(type, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    const float value = std::cos(3 * float(i));
    t.mutable_view().as<uint16_t>()[i] = type == DType::kF16 ? F32ToF16(value) : F32ToBF16(value);
  }
  return t;
}

float At(const Tensor& t, int64_t i) {
  if (t.type() == DType::kF32) return t.as<float>()[i];
  const uint16_t bits = t.as<uint16_t>()[i];
  return t.type() == DType::kF16 ? F16ToF32(bits) : BF16ToF32(bits);
}

Tensor Output(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) inputs.push_back(Random(graph.value(id).type, graph.value(id).shape));
  return EvaluateAll(graph, inputs)[size_t(graph.outputs[0])];
}

// Runs the pass and expects outputs that differ by roundings of halves: `roundings` of values of magnitude
// `most` at most.
void ExpectNear(Graph& g, int roundings, float most) {
  FoldConstants(g);
  Settle(g);
  const Tensor before = Output(g);
  EXPECT_TRUE(WidenHalves(g));
  Settle(g);
  const Tensor after = Output(g);
  ASSERT_EQ(before.type(), after.type());
  ASSERT_EQ(before.shape(), after.shape());
  const float epsilon = before.type() == DType::kBF16 ? 0x1p-8f : 0x1p-11f;
  for (int64_t i = 0; i < before.elements(); ++i)
    EXPECT_NEAR(At(before, i), At(after, i), epsilon * float(roundings) * most) << i << "\n" << ToText(g);
}

TEST(WidenHalves, ComputesInF32BetweenTwoCasts) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    HalfBuilder b(type);
    const ValueId x = b.Input({3, 8});
    const ValueId y = b.Op("Relu", {b.Op("Add", {b.Op("MatMul", {x, b.Weight({8, 5})}), b.Weight({5})})});
    Graph& g = b.Output(b.Op("Mul", {y, y}));
    // Rounded are the product, the sum, the square and the output, which are at most 8, 9, 81 and 81; the
    // errors of the former two grow by the square's derivative of 18.
    ExpectNear(g, 6, 81);
    EXPECT_EQ(CountOf(g, "Cast"), 2) << ToText(g);
    for (const Node& node : g.nodes) {
      if (node.op != "Cast") {
        EXPECT_EQ(g.value(node.outputs[0]).type, DType::kF32) << node.name;
      }
    }
    EXPECT_EQ(g.value(g.inputs[0]).type, type);
    EXPECT_EQ(g.value(g.outputs[0]).type, type);
    EXPECT_FALSE(WidenHalves(g)) << "a share of the graph has its passes again";
  }
}

TEST(WidenHalves, AHalfThatIsWidenedTwiceIsCastOnce) {
  HalfBuilder b;
  const ValueId x = b.Input({4});
  Graph& g = b.Output(b.Op("Add", {b.Op("Relu", {x}), b.Op("Neg", {x})}));
  ExpectNear(g, 2, 1);
  EXPECT_EQ(CountOf(g, "Cast"), 2) << ToText(g);
}

TEST(WidenHalves, KeepsTheRoundingThatTheFileAsksFor) {
  HalfBuilder b;
  const ValueId x = b.Input({64});
  const ValueId wide = b.Op("Exp", {b.CastTo(x, "f32")});
  const ValueId rounded = b.CastTo(wide, "f16");
  Graph& g = b.Output(b.Op("Sub", {b.CastTo(rounded, "f32"), wide}));
  FoldConstants(g);
  Settle(g);
  const Tensor before = Output(g);
  WidenHalves(g);
  Settle(g);
  const Tensor after = Output(g);
  float largest = 0;
  for (int64_t i = 0; i < before.elements(); ++i) {
    EXPECT_EQ(At(before, i), At(after, i)) << i;
    largest = std::max(largest, std::abs(At(before, i)));
  }
  EXPECT_GT(largest, 0);
}

TEST(WidenHalves, KeepsHalvesWhoseBitsAreRead) {
  HalfBuilder b;
  Attributes to;
  to.Set("to", std::string("i16"));
  const ValueId x = b.Input({2, 3});
  const ValueId bits = b.CastTo(b.Op("BitCast", {x}, to), "f16");
  Graph& g = b.Output(b.Op("Add", {x, bits}));
  FoldConstants(g);
  Settle(g);
  const Tensor before = Output(g);
  EXPECT_TRUE(WidenHalves(g));
  Settle(g);
  EXPECT_EQ(CountOf(g, "BitCast"), 1) << ToText(g);
  for (const Node& node : g.nodes) {
    if (node.op == "BitCast") {
      EXPECT_EQ(g.value(node.inputs[0]).type, DType::kF16);
    }
  }
  const Tensor after = Output(g);
  for (int64_t i = 0; i < before.elements(); ++i)
    EXPECT_NEAR(At(before, i), At(after, i), 0x1p-10f * std::abs(At(before, i)) + 0x1p-9f) << i;
}

TEST(WidenHalves, ReadsATableOfHalvesRowByRow) {
  HalfBuilder b;
  const ValueId ids = b.graph.AddValue("ids", DType::kI64, Shape{2});
  b.graph.inputs.push_back(ids);
  Graph& g = b.Output(b.Op("Relu", {b.Op("Gather", {b.Weight({4, 3}), ids})}));
  FoldConstants(g);
  Settle(g);
  EXPECT_TRUE(WidenHalves(g));
  Settle(g);
  EXPECT_EQ(CountOf(g, "Gather"), 1) << ToText(g);
  for (const Node& node : g.nodes) {
    if (node.op == "Gather") {
      EXPECT_EQ(g.value(node.inputs[0]).type, DType::kF16) << ToText(g);
    }
  }
}

TEST(WidenHalves, KeepsHalvesWhoseShapeIsKnownInTheRunAlone) {
  HalfBuilder b;
  const ValueId x = b.Input({6}), wanted = b.graph.AddValue("wanted", DType::kBool, Shape{6});
  b.graph.inputs.push_back(wanted);
  Graph& g = b.Output(b.Op("Abs", {b.Op("Compress", {b.Op("Neg", {x}), wanted})}));
  FoldConstants(g);
  Settle(g);
  EXPECT_TRUE(WidenHalves(g));
  Settle(g);
  EXPECT_EQ(CountOf(g, "Neg"), 1) << ToText(g);
  EXPECT_EQ(CountOf(g, "Compress"), 1) << ToText(g);
  for (const Node& node : g.nodes) {
    if (node.op == "Neg") {
      EXPECT_EQ(g.value(node.outputs[0]).type, DType::kF32);
    }
    if (node.op == "Compress") {
      EXPECT_EQ(g.value(node.inputs[0]).type, DType::kF16);
    }
  }
}

// A CastLike says so in another way, and a Cast from one half to the other.
TEST(WidenHalves, KeepsOtherRoundingsThatTheFileAsksFor) {
  for (const bool like : {true, false}) {
    HalfBuilder b;
    const ValueId x = b.Input({64});
    const ValueId wide = b.Op("Exp", {like ? b.CastTo(x, "f32") : x});
    const ValueId rounded = like ? b.Op("CastLike", {wide, x}) : b.CastTo(wide, "bf16");
    Graph& g = b.Output(b.CastTo(rounded, "f32"));
    FoldConstants(g);
    Settle(g);
    const Tensor before = Output(g);
    WidenHalves(g);
    Settle(g);
    const Tensor after = Output(g);
    // The result of Exp is rounded to f16 before the pass alone where it is then rounded to bf16.
    for (int64_t i = 0; i < before.elements(); ++i)
      EXPECT_NEAR(At(before, i), At(after, i), like ? 0 : 0x1p-7f * At(before, i)) << i;
    for (int64_t i = 0; i < after.elements(); ++i) {
      const float value = At(after, i);
      EXPECT_EQ(value, like ? F16ToF32(F32ToF16(value)) : BF16ToF32(F32ToBF16(value))) << i;
    }
  }
}

TEST(WidenHalves, GivesItsNodesNamesOfTheirOwn) {
  HalfBuilder b;
  const ValueId x = b.Input({4}), y = b.graph.AddValue("y");
  b.graph.AddNode("Relu", "widen.x0", {x}, {y});
  Graph& g = b.Output(y);
  ExpectNear(g, 1, 1);
}

TEST(WidenHalves, DoesNothingWithoutHalves) {
  Builder b;
  Graph& g = b.Output(b.Op("Relu", {b.Input({4})}));
  FoldConstants(g);
  EXPECT_FALSE(WidenHalves(g));
}

}  // namespace
}  // namespace mete
