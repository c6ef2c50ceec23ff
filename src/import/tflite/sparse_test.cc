#include "import/tflite/sparse.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "import/tflite/models_testing.h"

namespace mete::tflite_import {
namespace {

struct LevelForm {
  int size = 0;                        // of a level that has all places
  std::vector<int> segments, indices;  // of one that lists places
};

flatbuffers::Offset<tflite::SparsityParameters> LayoutIn(flatbuffers::FlatBufferBuilder& builder,
                                                         const std::vector<int>& order,
                                                         const std::vector<int>& blocks,
                                                         const std::vector<LevelForm>& levels) {
  std::vector<flatbuffers::Offset<tflite::DimensionMetadata>> made;
  for (const LevelForm& level : levels) {
    if (level.segments.empty()) {
      made.push_back(tflite::CreateDimensionMetadata(builder, tflite::DimensionType::DENSE, level.size));
      continue;
    }
    const std::vector<uint8_t> narrow(level.segments.begin(), level.segments.end());
    const std::vector<uint16_t> wide(level.indices.begin(), level.indices.end());
    const auto segments = tflite::CreateUint8VectorDirect(builder, &narrow).Union();
    const auto indices = tflite::CreateUint16VectorDirect(builder, &wide).Union();
    made.push_back(tflite::CreateDimensionMetadata(builder, tflite::DimensionType::SPARSE_CSR, 0,
                                                   tflite::SparseIndexVector::Uint8Vector, segments,
                                                   tflite::SparseIndexVector::Uint16Vector, indices));
  }
  return tflite::CreateSparsityParametersDirect(builder, &order, &blocks, &made);
}

std::vector<float> Dense(const Shape& shape, const std::vector<float>& values, const std::vector<int>& order,
                         const std::vector<int>& blocks, const std::vector<LevelForm>& levels) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(LayoutIn(builder, order, blocks, levels));
  const Tensor dense = DenseOf(*flatbuffers::GetRoot<tflite::SparsityParameters>(builder.GetBufferPointer()),
                               std::as_bytes(std::span(values)), DType::kF32, shape, "weights");
  return {dense.as<float>(), dense.as<float>() + dense.elements()};
}

TEST(SparseTensor, HasRowsThatListTheirColumns) {
  EXPECT_EQ(Dense({3, 4}, {1, 2, 3}, {0, 1}, {}, {{3}, {0, {0, 1, 1, 3}, {2, 0, 3}}}),
            (std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 3}));
}

TEST(SparseTensor, HasColumnsThatListTheirRows) {
  EXPECT_EQ(Dense({3, 2}, {1, 2, 3}, {1, 0}, {}, {{2}, {0, {0, 1, 3}, {2, 0, 1}}}),
            (std::vector<float>{0, 2, 0, 3, 1, 0}));
}

TEST(SparseTensor, HasBlocks) {
  const std::vector<LevelForm> levels = {{2}, {0, {0, 1, 2}, {1, 0}}, {2}, {2}};
  EXPECT_EQ(Dense({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3}, {0, 1}, levels),
            (std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0}));
  // Blocks of 1 x 2: of columns alone.
  EXPECT_EQ(Dense({2, 4}, {1, 2, 3, 4}, {0, 1, 2}, {1}, {{2}, {0, {0, 1, 2}, {1, 0}}, {2}}),
            (std::vector<float>{0, 0, 1, 2, 3, 4, 0, 0}));
}

TEST(SparseTensor, IsRefusedWhereItsLayoutDoesNotFit) {
  const auto rows = [](std::vector<int> segments, std::vector<int> indices,
                       std::vector<float> values = {1, 2, 3}, int size = 3) {
    return Dense({3, 4}, values, {0, 1}, {}, {{size}, {0, segments, indices}});
  };
  EXPECT_TELLS(rows({0, 1, 1, 3}, {2, 0, 4}), "[weights] the sparse tensor is damaged; got a place outside");
  EXPECT_TELLS(rows({0, 2, 1, 3}, {2, 0, 3}), "got segments out of order");
  EXPECT_TELLS(rows({0, 1, 1, 4}, {2, 0, 3}), "got segments out of order");
  EXPECT_TELLS(rows({0, 1}, {2, 0, 3}), "got too few segments");
  EXPECT_TELLS(rows({0, 1, 1, 3}, {2, 0, 3}, {1, 2}), "got too few elements");
  EXPECT_TELLS(rows({0, 1, 1, 3}, {2, 0, 3}, {1, 2, 3}, 2), "got a level of another size");
  EXPECT_TELLS(rows({0, 1, 1, 2}, {2, 0, 3}), "got elements that have no place");
  EXPECT_TELLS(Dense({3, 4}, {1}, {0}, {}, {{3}}), "got another number of levels");
  EXPECT_TELLS(Dense({3, 4}, {1}, {0, 0}, {}, {{3}, {4}}), "got an order that is none");
  EXPECT_TELLS(Dense({3, 4}, {1}, {0, 1, 2}, {2}, {{3}, {4}, {2}}),
               "got blocks of a dimension that there is not");
  EXPECT_TELLS(Dense({3, 4}, {1}, {0, 1, 2}, {0}, {{3}, {4}, {2}}), "got blocks that do not fill the tensor");
}

TEST(SparseTensor, HasNoStepsWhereItHasNoElements) {
  EXPECT_EQ(Dense({1 << 20, 1 << 10, 0}, {}, {0, 1, 2}, {}, {{1 << 20}, {1 << 10}, {0}}),
            std::vector<float>());
}

TEST(SparseTensor, IsAConstantOfANetwork) {
  TfliteModel m;
  const int x = m.Input({2, 3});
  const auto layout = LayoutIn(m.builder, {0, 1}, {}, {{2}, {0, {0, 1, 2}, {1, 2}}});
  const int weights = m.Sparse({2, 3}, {5, 7}, layout);
  const int dense =
      m.Op(TfliteModel::Code::DENSIFY, {weights}, TfliteModel::Kind::NONE, {}, {m.Value({2, 3})});
  m.outputs = {m.Op(TfliteModel::Code::ADD, {x, dense}, TfliteModel::Kind::NONE, {}, {m.Value({2, 3})})};
  const auto y = RunBytes(m.Finish(), {Tensor::Floats({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(ElementsOf<float>(y[0]), (std::vector<float>{1, 7, 3, 4, 5, 13}));
}

}  // namespace
}  // namespace mete::tflite_import
