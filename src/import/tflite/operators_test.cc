// Operators that no other runtime at hand has, and forms of operators that are refused. The others are in
// tests/tflite_operators_test.cc.
#include "base/errors_testing.h"
#include "import/tflite/models_testing.h"

namespace mete {
namespace {

using Model = TfliteModel;
using Code = Model::Code;
using Type = Model::Type;
using Kind = Model::Kind;
using Floats = std::vector<float>;

// Returns the first output of a model with one output for inputs of floats.
Floats FloatsOf(Model& m, int output, const std::vector<Tensor>& inputs) {
  m.outputs = {output};
  return ElementsOf<float>(RunBytes(m.Finish(), inputs)[0]);
}

// MediaPipe's operator: padding (1: SAME, 2: VALID), width and height of the stride.
int TransposedWithBias(Model& m, const std::vector<int>& weights, const std::vector<int32_t>& options) {
  Floats values;
  for (int i = 0; i < weights[1] * weights[2]; ++i) values.push_back(float(i + 1));
  std::vector<uint8_t> bytes(options.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), options.data(), bytes.size());
  return m.Custom("Convolution2DTransposeBias",
                  {m.Input({1, 2, 3, 1}), m.Floats(weights, values), m.Floats({1}, {0.5f})}, bytes);
}

// The expected numbers are those of the definition, written out in numpy.
TEST(TfliteOperator, TransposedConvolutionWithBias) {
  const std::vector<Tensor> x = {Tensor::Floats({1, 2, 3, 1}, Floats{1, 2, 3, 4, 5, 6})};
  const auto run = [&](const std::vector<int>& weights, const std::vector<int32_t>& options) {
    Model m;
    const int y = TransposedWithBias(m, weights, options);
    return FloatsOf(m, y, x);
  };
  // 4 x 5: SAME does not double 3.
  EXPECT_EQ(run({1, 3, 3, 1}, {1, 2, 2}),
            (Floats{2.5,  5.5,  4.5,  9.5,  6.5,  5.5,  14.5, 10.5, 24.5, 15.5,
                    16.5, 40.5, 26.5, 60.5, 36.5, 20.5, 44.5, 25.5, 54.5, 30.5}));
  EXPECT_EQ(run({1, 3, 3, 1}, {2, 2, 2, 0, 0}),  // with what newer writers have behind the options
            (Floats{1.5,  2.5,  5.5,  4.5,  9.5,  6.5,  9.5,  4.5,  5.5,  14.5, 10.5, 24.5,
                    15.5, 18.5, 11.5, 16.5, 40.5, 26.5, 60.5, 36.5, 45.5, 16.5, 20.5, 44.5,
                    25.5, 54.5, 30.5, 36.5, 28.5, 32.5, 71.5, 40.5, 87.5, 48.5, 54.5}));
  EXPECT_EQ(run({1, 2, 3, 1}, {1, 2, 1}),  // 2 x 5 by a stride of 2 along the width alone
            (Floats{2.5, 5.5, 4.5, 9.5, 6.5, 13.5, 31.5, 20.5, 45.5, 27.5}));
}

TEST(TfliteOperator, TransposedConvolutionWithBiasChecksItsOptions) {
  const auto read = [](const std::vector<int32_t>& options) {
    Model m;
    const int y = TransposedWithBias(m, {1, 3, 3, 1}, options);
    return ImportOutput(m, y);
  };
  EXPECT_TELLS(read({1, 2}), "its options are too short; got 8 bytes, expected at least 12");
  EXPECT_TELLS(read({3, 2, 2}), "the padding is unknown; got 3, expected 1 (SAME) or 2 (VALID)");
  EXPECT_TELLS(read({1, 0, 2}), "a kernel, stride or dilation is out of range; got 0");
}

TEST(TfliteOperator, IntegersAreDividedDownwards) {
  Model m;
  const int x = m.Input({4}, Type::INT32);
  const auto two = [&](Code code) {
    return m.Op(code, {x, m.Ints({3, -3, 3, -3})}, Kind::NONE, flatbuffers::Offset<void>(),
                {m.Value({4}, Type::INT32)});
  };
  m.outputs = {two(Code::FLOOR_DIV), two(Code::FLOOR_MOD)};
  const std::vector<int32_t> values = {7, 7, -7, -7};
  const auto y = RunBytes(m.Finish(), {Tensor::Of<int32_t>(DType::kI32, {4}, values)});
  EXPECT_EQ(ElementsOf<int32_t>(y[0]), (std::vector<int32_t>{2, -3, -3, 2}));
  EXPECT_EQ(ElementsOf<int32_t>(y[1]), (std::vector<int32_t>{1, -2, 2, -1}));
}

TEST(TfliteOperator, KnownIntegersAreComputedWhileTheModelIsRead) {
  Model m;
  const auto made = [&](Code code, const std::vector<int>& in) {
    return m.Op(code, in, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, Type::INT32)});
  };
  const int x = m.Input({1});
  m.outputs = {x, made(Code::FLOOR_DIV, {m.Ints({7, 7, -7, -7}), m.Ints({3, -3, 3, -3})}),
               made(Code::FLOOR_MOD, {m.Ints({7, 7, -7, -7}), m.Ints({3, -3, 3, -3})}),
               made(Code::RANGE, {m.Ints({7}), m.Ints({-2}), m.Ints({-4})}),
               made(Code::REDUCE_PROD, {m.Ints({2, 3, 5}), m.Ints({0})})};
  const Graph g = ImportBytes(m.Finish()).graph;
  EXPECT_TRUE(g.nodes.empty()) << ToText(g);
  const auto known = [&](size_t i) { return ElementsOf<int32_t>(g.value(g.outputs[i]).constant); };
  EXPECT_EQ(known(1), (std::vector<int32_t>{2, -3, -3, 2}));
  EXPECT_EQ(known(2), (std::vector<int32_t>{1, -2, 2, -1}));
  EXPECT_EQ(known(3), (std::vector<int32_t>{7, 3, -1}));
  EXPECT_EQ(known(4), (std::vector<int32_t>{30}));
}

TEST(TfliteOperator, KnownListsAreDividedAsTheyAre) {
  const auto divided = [](const std::vector<int32_t>& sizes, int32_t axis, Type type) {
    Model m;
    const std::vector<int> parts = {m.Value({}, type), m.Value({}, type)};
    m.Op(Code::SPLIT_V,
         {m.Ints({1, 2, 3}), m.Ints(sizes), m.Constant({}, std::vector<int32_t>{axis}, Type::INT32)},
         Kind::NONE, flatbuffers::Offset<void>(), parts);
    m.Input({1});
    m.outputs = parts;
    const Graph g = ImportBytes(m.Finish()).graph;
    return ElementsOf<int32_t>(g.value(g.outputs[1]).constant);
  };
  EXPECT_EQ(divided({1, -1}, 0, Type::INT32), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(divided({3, 0}, -1, Type::INT32), std::vector<int32_t>());
  EXPECT_TELLS(divided({1, 2}, 1, Type::INT32), "axis is out of range; got 1, expected -1 to 0");
  EXPECT_TELLS(divided({1, 2}, 0, Type::INT64), "the operator makes another type than the file says");
}

// Writers say 1 of sizes that they do not know: a shape of such sizes is no batch.
TEST(TfliteOperator, ANewShapeThatFitsHasNoOtherBatch) {
  Model m;
  const int known = m.Op(Code::RESHAPE, {m.Input({6}), m.Ints({2, 3})}, Kind::NONE,
                         flatbuffers::Offset<void>(), {m.Value({1, 1})});
  const Graph g = ImportOutput(m, m.Op(Code::RESHAPE, {known, m.Ints({1, 2, 3})})).graph;
  EXPECT_EQ(g.value(g.outputs[0]).shape, (Shape{1, 2, 3}));
}

// A table of words stays in bytes: rows are taken before they become numbers.
TEST(TfliteOperator, RowsOfBytesBecomeNumbersWhenTheyAreTaken) {
  for (const Scale& scale : {Scale{{0.5f}, {-2}}, Scale{{0.5f, 2, 0.25f}, {0, 0, 0}}}) {
    Model m;
    const int table = m.Constant<int8_t>({3, 2}, {2, -4, 6, 8, -10, 12}, Type::INT8, scale);
    m.outputs = {m.Op(Code::EMBEDDING_LOOKUP, {m.Input({2}, Type::INT32), table})};
    const std::string bytes = m.Finish();
    const std::vector<int32_t> rows = {2, 0};
    const Tensor y = RunBytes(bytes, {Tensor::Of<int32_t>(DType::kI32, {2}, rows)})[0];
    EXPECT_EQ(ElementsOf<float>(y),
              scale.scale.size() == 1 ? (Floats{-4, 7, 2, -1}) : (Floats{-2.5, 3, 1, -2}));
    const Graph g = ImportBytes(bytes).graph;
    for (const Node& node : g.nodes) {
      if (node.op != "DequantizeLinear") continue;
      EXPECT_EQ(g.value(node.outputs[0]).shape, (Shape{2, 2}));
    }
  }
}

// tests/tflite_operators_test.cc runs such a model.
TEST(TfliteOperator, ShapesMayDependOnTheDataOfARun) {
  Model m;
  const int x = m.Input({2, 3});
  const int places =
      m.Op(Code::WHERE, {x}, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, Type::INT64)});
  const Graph g = ImportOutput(m, m.Op(Code::NEG, {m.Op(Code::GATHER_ND, {x, places})})).graph;
  std::string operators;
  for (const Node& node : g.nodes) operators += node.op + " ";
  EXPECT_EQ(operators, "NonZero Transpose Cast GatherND Neg ");
  EXPECT_FALSE(g.value(g.outputs[0]).shape.known());
}

TEST(TfliteOperator, WhoNeedsAShapeThatDependsOnDataIsRefused) {
  Model m;
  const int x = m.Input({2, 3});
  const int places =
      m.Op(Code::WHERE, {x}, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, Type::INT64)});
  const int taken = m.Op(Code::GATHER_ND, {x, places});
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::SOFTMAX, {taken})),
               "unsupported operator SOFTMAX: a shape that it needs depends on the data of a run");
}

// The convolution gives its channels first inside of Mete; what depends on data has the file's order.
TEST(TfliteOperator, ValuesWhoseShapeDependsOnDataJoinOthersInTheFilesOrder) {
  Model m;
  const int mask = m.Input({2}), x = m.Input({1, 1, 2, 3});
  const int table = m.Floats({2, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const int places =
      m.Op(Code::WHERE, {mask}, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, Type::INT64)});
  const int taken = m.Op(Code::GATHER_ND, {table, places});
  const int sums = m.Conv(x, m.Floats({2, 1, 1, 3}, {1, 1, 1, 2, 2, 2}), m.Floats({2}, {0, 0}),
                          tflite::Padding::SAME, {m.Value({1, 1, 2, 2})});
  const Graph g = ImportOutput(m, m.Op(Code::CONCATENATION, {taken, sums}, Kind::ConcatenationOptions,
                                       tflite::CreateConcatenationOptions(m.builder, 3)))
                      .graph;
  const Node& joined = g.nodes.back();
  ASSERT_EQ(joined.op, "Concat");
  EXPECT_EQ(joined.attributes.Int("axis", 0), 3);
  EXPECT_EQ(g.value(joined.inputs[1]).shape, (Shape{1, 1, 2, 2}));
  for (const Node& node : g.nodes) {
    if (node.outputs[0] == joined.inputs[0]) {
      EXPECT_EQ(node.op, "GatherND");
    }
  }
}

TEST(TfliteOperator, GatherInBatchesChecksItsDimensions) {
  const auto read = [](int axis, int batch, const std::vector<int>& places) {
    Model m;
    const int x = m.Input({2, 3, 4}), at = m.Input(places, Type::INT32);
    return ImportOutput(m, m.Op(Code::GATHER, {x, at}, Kind::GatherOptions,
                                tflite::CreateGatherOptions(m.builder, axis, batch)));
  };
  EXPECT_TELLS(read(1, 2, {2, 3, 1}), "batch_dims is out of range; got 2, expected 0 to 1");
  EXPECT_TELLS(read(1, -4, {2, 3, 1}), "batch_dims is out of range; got -1, expected 0 to 1");
  EXPECT_TELLS(read(2, 1, {3, 2}), "batch dimensions differ; got 2x3x4 and 3x2");
  EXPECT_TELLS(read(3, 1, {2, 2}), "axis is out of range; got 3, expected -3 to 2");
}

TEST(TfliteOperator, IndicesAndSizesAreIntegers) {
  Model m;
  const int x = m.Input({2, 3});
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::GATHER, {x, m.Floats({1}, {1})})),
               "input 1 must be integers; got f32");
  Model n;
  EXPECT_TELLS(ImportOutput(n, n.Op(Code::FILL, {n.Floats({2}, {2, 3}), n.Input({})})),
               "the list of sizes must be a short list of integers");
}

TEST(TfliteOperator, LinesAreReversedAlongTwoAxes) {
  Model m;
  const int x = m.Input({2, 3});
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::REVERSE_SEQUENCE, {x, m.Ints({1, 2})}, Kind::ReverseSequenceOptions,
                                    tflite::CreateReverseSequenceOptions(m.builder, 1, 1))),
               "the axes of time and batch must differ; got 1 for both");
}

TEST(TfliteOperator, UpdatesOfAPartFit) {
  const auto read = [](const std::vector<int>& update, const std::vector<int>& at) {
    Model m;
    const int x = m.Input({3, 4}), y = m.Input(update), place = m.Input(at, Type::INT32);
    return ImportOutput(m, m.Op(Code::DYNAMIC_UPDATE_SLICE, {x, y, place}));
  };
  EXPECT_NO_THROW(read({3, 4}, {2}));
  EXPECT_TELLS(read({1, 5}, {2}), "DYNAMIC_UPDATE_SLICE has inputs that do not fit; got 3x4, 1x5 and 2");
  EXPECT_TELLS(read({1}, {2}), "DYNAMIC_UPDATE_SLICE has inputs that do not fit; got 3x4, 1 and 2");
  EXPECT_TELLS(read({1, 4}, {1}), "DYNAMIC_UPDATE_SLICE has inputs that do not fit; got 3x4, 1x4 and 1");
}

TEST(TfliteOperator, WeightsOfVolumesFit) {
  Model m;
  const int x = m.Input({1, 2, 3, 3, 2});
  EXPECT_TELLS(
      ImportOutput(m, m.Op(Code::CONV_3D, {x, m.Floats({1, 1, 1, 3, 1}, {1, 2, 3})}, Kind::Conv3DOptions,
                           tflite::CreateConv3DOptions(m.builder, tflite::Padding::SAME, 1, 1, 1))),
      "the weights do not fit the input; got 1x1x1x3x1 for 1x2x3x3x2");
}

TEST(TfliteOperator, SlicesFromAComputedPlaceOn) {
  const auto read = [](const std::vector<int32_t>& sizes) {
    Model m;
    const int x = m.Input({3, 4}), begin = m.Input({2}, Type::INT32);
    return ImportOutput(m, m.Op(Code::SLICE, {x, begin, m.Ints(sizes)}));
  };
  EXPECT_TELLS(read({1, 5}), "the part is outside; got 5 of 4");
  EXPECT_TELLS(read({1}), "SLICE needs a begin and a size for each dimension of 3x4");
  Model m;
  const int x = m.Input({3, 4}), begin = m.Input({2}, Type::INT32);
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::STRIDED_SLICE, {x, begin, m.Ints({3, 4}), m.Ints({1, 1})},
                                    Kind::StridedSliceOptions, tflite::CreateStridedSliceOptions(m.builder))),
               "its begin depends on the data of a run");
}

TEST(TfliteOperator, MirrorsAreNotLargerThanWhatTheyShow) {
  Model m;
  const int x = m.Input({2, 3});
  const int pads = m.Constant<int32_t>({2, 2}, {0, 3, 0, 0}, Type::INT32);
  EXPECT_TELLS(
      ImportOutput(m, m.Op(Code::MIRROR_PAD, {x, pads}, Kind::MirrorPadOptions,
                           tflite::CreateMirrorPadOptions(m.builder, tflite::MirrorPadMode::SYMMETRIC))),
      "a mirror is larger than what it shows; got 0 and 3 of 2");
}

TEST(TfliteOperator, NormalizationOfPixelsChecksItsRadius) {
  const auto read = [](const std::vector<int>& shape, int radius) {
    Model m;
    const int x = m.Input(shape);
    return ImportOutput(m,
                        m.Op(Code::LOCAL_RESPONSE_NORMALIZATION, {x}, Kind::LocalResponseNormalizationOptions,
                             tflite::CreateLocalResponseNormalizationOptions(m.builder, radius, 1, 1, 0.5f)));
  };
  EXPECT_TELLS(read({1, 2, 2, 3}, -1), "the radius is out of range; got -1, expected 0 to 1048576");
  EXPECT_TELLS(read({2, 3}, 1), "LOCAL_RESPONSE_NORMALIZATION needs 4 dimensions; got 2x3");
}

TEST(TfliteOperator, SegmentsAreOneForEachRow) {
  const auto read = [](const std::vector<int32_t>& segments) {
    Model m;
    const int x = m.Input({3, 2});
    return ImportOutput(m, m.Op(Code::SEGMENT_SUM, {x, m.Ints(segments)}));
  };
  EXPECT_TELLS(read({0, 1}), "SEGMENT_SUM needs a segment for each row; got 2 for 3x2");
  EXPECT_TELLS(read({0, -1, 1}), "a segment must be from 0 to 2147483647; got -1");
}

TEST(TfliteOperator, BooleansAreNotScattered) {
  Model m;
  const int updates = m.Input({1}, Type::BOOL), at = m.Constant<int32_t>({1, 1}, {0}, Type::INT32);
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::SCATTER_ND, {at, updates, m.Ints({3})}, Kind::NONE,
                                    flatbuffers::Offset<void>(), {m.Value({3}, Type::BOOL)})),
               "unsupported operator SCATTER_ND: it places booleans");
}

TEST(TfliteOperator, SuppressionOfBoxesChecksItsInputs) {
  struct Numbers {
    int most = 2;
    float overlap = 0.5f, sigma = 0;
    bool known = true;
  };
  const auto read = [](const std::vector<int>& boxes, const std::vector<int>& scores, const Numbers& n) {
    Model m;
    const auto number = [&](float value) { return n.known ? m.Floats({}, {value}) : m.Input({}); };
    const int of_boxes = m.Input(boxes), of_scores = m.Input(scores);
    const std::vector<int> out = {m.Value({n.most}, Type::INT32), m.Value({n.most}),
                                  m.Value({}, Type::INT32)};
    m.outputs = out;
    return ImportOutput(m, m.Op(Code::NON_MAX_SUPPRESSION_V5,
                                {of_boxes, of_scores, m.Ints({n.most}), number(n.overlap), m.Floats({}, {0}),
                                 m.Floats({}, {n.sigma})},
                                Kind::NONE, flatbuffers::Offset<void>(), out));
  };
  EXPECT_NO_THROW(read({3, 4}, {3}, {}));
  EXPECT_TELLS(read({3, 4}, {2}, {}), "its inputs do not fit; got 3x4 and 2 for 2 boxes");
  EXPECT_TELLS(read({3, 4}, {1, 3}, {}), "its inputs do not fit; got 3x4 and 1x3 for 2 boxes");
  EXPECT_TELLS(read({3, 4}, {3}, {.overlap = 0}), "it drops boxes that do not overlap");
  EXPECT_TELLS(read({3, 4}, {3}, {.sigma = 0.5f}), "it lowers the scores of boxes that overlap others");
  EXPECT_TELLS(read({3, 4}, {3}, {.known = false}), "its limit of the overlap is computed");
}

}  // namespace
}  // namespace mete
