#include "graph/flops.h"

#include <gtest/gtest.h>

#include "base/fused.h"

namespace mete {
namespace {

class FlopsTest : public testing::Test {
 protected:
  ValueId Value(const Shape& shape, DType type = DType::kF32) {
    return graph_.AddValue("v" + std::to_string(graph_.values.size()), type, shape);
  }
  const Node& Add(const std::string& op, std::vector<ValueId> in, const Shape& out, Attributes a = {}) {
    graph_.AddNode(op, op, std::move(in), {Value(out)}, std::move(a));
    return graph_.nodes.back();
  }
  Graph graph_;
};

TEST_F(FlopsTest, ConvolutionsCountTheirSums) {
  const Node& conv = Add("Conv", {Value({1, 4, 5, 6}), Value({7, 4, 3, 3}), Value({7})}, {1, 7, 5, 6});
  EXPECT_EQ(Flops(graph_, conv), 2 * 7 * 5 * 6 * 4 * 9);
  EXPECT_EQ(BytesMoved(graph_, conv), 4 * (4 * 5 * 6 + 7 * 4 * 9 + 7 + 7 * 5 * 6));
}

TEST_F(FlopsTest, OneThatWritesASliceCountsTheSliceAlone) {
  Attributes slice;
  slice.Set(kIntoChannels, int64_t{20});
  const Node& conv =
      Add("Conv", {Value({1, 5, 6, 4}), Value({7, 4, 1, 1}), kNoValue, kNoValue, Value({1, 5, 6, 20})},
          {1, 5, 6, 20}, slice);
  EXPECT_EQ(Flops(graph_, conv), 2 * 7 * 5 * 6 * 4);
  EXPECT_EQ(BytesMoved(graph_, conv), 4 * (4 * 5 * 6 + 7 * 4 + 7 * 5 * 6));
}

TEST_F(FlopsTest, ProductsAndOthers) {
  EXPECT_EQ(Flops(graph_, Add("MatMul", {Value({2, 3, 4}), Value({4, 5})}, {2, 3, 5})), 2 * 2 * 3 * 5 * 4);
  const Node& relu = Add("Relu", {Value({10}, DType::kF16)}, {10});
  EXPECT_EQ(Flops(graph_, relu), 0);
  EXPECT_EQ(BytesMoved(graph_, relu), 20 + 40);
}

TEST_F(FlopsTest, QuantizedOnesCountTheSameAtTheirOwnInputs) {
  const auto one = [&] { return Value({1}); };
  const ValueId x = Value({2, 3, 4}, DType::kU8), b = Value({4, 5}, DType::kU8);
  EXPECT_EQ(Flops(graph_, Add("QLinearMatMul", {x, one(), one(), b, one(), one(), one(), one()}, {2, 3, 5})),
            2 * 2 * 3 * 5 * 4);
  EXPECT_EQ(Flops(graph_, Add("MatMulInteger", {x, b}, {2, 3, 5})), 2 * 2 * 3 * 5 * 4);
  const ValueId image = Value({1, 4, 5, 6}, DType::kU8), weights = Value({7, 4, 3, 3}, DType::kI8);
  EXPECT_EQ(Flops(graph_, Add("QLinearConv", {image, one(), one(), weights, one(), one(), one(), one()},
                              {1, 7, 5, 6})),
            2 * 7 * 5 * 6 * 4 * 9);
}

TEST_F(FlopsTest, RecurrentOnesCountEveryTimeStep) {
  const Node& lstm =
      Add("LSTM", {Value({5, 2, 3}), Value({1, 4 * 6, 3}), Value({1, 4 * 6, 6})}, {5, 1, 2, 6});
  EXPECT_EQ(Flops(graph_, lstm), 2 * 5 * 2 * (4 * 6) * (3 + 6));
  const Node& gru = Add("GRU", {Value({5, 2, 3}), Value({2, 3 * 6, 3}), Value({2, 3 * 6, 6})}, {5, 2, 2, 6});
  EXPECT_EQ(Flops(graph_, gru), 2 * 5 * 2 * 2 * (3 * 6) * (3 + 6));
  const Node& cut = Add("RNN", {Value({5, 2, 3}), Value({1, 6, 3})}, {5, 1, 2, 6});
  EXPECT_EQ(Flops(graph_, cut), 0);  // an RNN without recurrent weights, which the verifier rejects
}

TEST_F(FlopsTest, AGatherReadsOfItsTableWhatItWrites) {
  const Node& gather = Add("Gather", {Value({1000, 8}), Value({3}, DType::kI64)}, {3, 8});
  EXPECT_EQ(BytesMoved(graph_, gather), 24 + 2 * 4 * 24);
}

TEST_F(FlopsTest, NothingIsKnownOfUnknownShapes) {
  const Node& node = Add("MatMul", {Value(Shape::Unknown()), Value({4, 5})}, Shape::Unknown());
  EXPECT_EQ(Flops(graph_, node), 0);
  EXPECT_EQ(BytesMoved(graph_, node), 0);
}

}  // namespace
}  // namespace mete
