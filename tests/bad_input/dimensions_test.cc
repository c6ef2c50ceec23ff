// Dimensions and attributes that are negative, zero, or overflow when multiplied. Load() refuses each of them
// immediately and without allocating memory, with a message that names the node.
#include <ctime>

#include "bad_input.h"

namespace mete {
namespace {

constexpr int64_t kHuge = int64_t(1) << 40, kMost = INT64_MAX, kLeast = INT64_MIN;

using Ints = std::vector<int64_t>;

struct Const {
  Ints dims;
  Ints values;  // i64; empty: f32 zeros of `dims`
};

struct Case {
  const char* name;  // the name of the test
  const char* op;
  std::vector<Const> inputs;  // after x, which is f32 1x2x8x8
  std::vector<std::pair<const char*, Ints>> lists;
  std::vector<std::pair<const char*, int64_t>> numbers;
  bool reads_x = true;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class BadDimensions : public BadInput, public testing::WithParamInterface<Case> {};

ModelProto ModelOf(const Case& c) {
  ModelProto m = EmptyModel(18);
  AddInput(m, "x", {1, 2, 8, 8});
  std::vector<std::string> inputs;
  if (c.reads_x) inputs.push_back("x");
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    inputs.push_back(name);
    int64_t elements = 1;
    for (int64_t d : c.inputs[i].dims) elements *= d;
    if (c.inputs[i].values.empty())
      AddRaw(m, name, TensorProto::FLOAT, c.inputs[i].dims, std::string(size_t(elements) * 4, '\0'));
    else AddRaw(m, name, TensorProto::INT64, c.inputs[i].dims, RawOf(c.inputs[i].values));
  }
  NodeProto& node = AddOp(m, c.op, inputs, {"y"}, "bad");
  for (const auto& [name, values] : c.lists) AddInts(node, name, values);
  for (const auto& [name, value] : c.numbers) AddInt(node, name, value);
  AddOutput(m, "y");
  return m;
}

// The seconds that this program has computed: other programs on the machine do not add to them.
double ComputedSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

TEST_P(BadDimensions, AreRefusedAtOnceByName) {
  const double start_s = ComputedSeconds();
  const std::string error = LoadError(ModelOf(GetParam()));
  EXPECT_TRUE(Contains(error, "[bad] "));
  EXPECT_TRUE(Contains(error, "got ")) << "the message must say what it got";
  EXPECT_LT(ComputedSeconds() - start_s, 2);
}

const Const kWeight{{2, 2, 3, 3}, {}};
Const List(const Ints& values) { return {{int64_t(values.size())}, values}; }
Const Scalar(int64_t value) { return {{}, {value}}; }

const Case kCases[] = {
    {"ConvStrideZero", "Conv", {kWeight}, {{"strides", {0, 1}}}},
    {"ConvStrideNegative", "Conv", {kWeight}, {{"strides", {-1, 1}}}},
    {"ConvDilationZero", "Conv", {kWeight}, {{"dilations", {1, 0}}}},
    {"ConvDilationHuge", "Conv", {kWeight}, {{"dilations", {kMost, kMost}}}},
    {"ConvPadHuge", "Conv", {kWeight}, {{"pads", {kMost, kMost, kMost, kMost}}}},
    {"ConvPadMakesTooLarge", "Conv", {kWeight}, {{"pads", {1 << 30, 1 << 30, 1 << 30, 1 << 30}}}},
    {"ConvPadNegative", "Conv", {kWeight}, {{"pads", {-9, -9, -9, -9}}}},
    {"ConvPadTooFew", "Conv", {kWeight}, {{"pads", {1}}}},
    {"ConvGroupZero", "Conv", {kWeight}, {}, {{"group", 0}}},
    {"ConvGroupNegative", "Conv", {kWeight}, {}, {{"group", -1}}},
    {"ConvGroupLeast", "Conv", {kWeight}, {}, {{"group", kLeast}}},
    {"ConvKernelNegative", "Conv", {kWeight}, {{"kernel_shape", {-3, 3}}}},
    {"ConvKernelEmpty", "Conv", {{{2, 2, 0, 3}, {}}}},
    {"ConvTransposeStrideHuge", "ConvTranspose", {kWeight}, {{"strides", {kHuge, kHuge}}}},
    {"ConvTransposeStrideMakesTooLarge", "ConvTranspose", {kWeight}, {{"strides", {1 << 29, 1 << 29}}}},
    {"ConvTransposeOutputNegative", "ConvTranspose", {kWeight}, {{"output_shape", {-5, 5}}}},
    {"MaxPoolStrideZero", "MaxPool", {}, {{"kernel_shape", {2, 2}}, {"strides", {0, 0}}}},
    {"MaxPoolKernelNegative", "MaxPool", {}, {{"kernel_shape", {-2, 2}}}},
    {"MaxPoolKernelZero", "MaxPool", {}, {{"kernel_shape", {0, 2}}}},
    {"MaxPoolKernelHuge", "MaxPool", {}, {{"kernel_shape", {kMost, kMost}}}},
    {"AveragePoolPadHuge",
     "AveragePool",
     {},
     {{"kernel_shape", {2, 2}}, {"pads", {kHuge, kHuge, kHuge, kHuge}}}},
    {"ReshapeNegative", "Reshape", {List({-2, 64})}},
    {"ReshapeOverflows", "Reshape", {List({kHuge, kHuge})}},
    {"ReshapeWrapsToTheRightCount", "Reshape", {List({kLeast, 2, 128})}},
    {"ReshapeTwoFree", "Reshape", {List({-1, -1})}},
    {"ReshapeFreeBesideZero", "Reshape", {List({0, -1, 7})}},
    {"ReshapeTooManyDimensions", "Reshape", {List(Ints(20, 1))}},
    {"ConstantOfShapeNegative", "ConstantOfShape", {List({-1})}, {}, {}, false},
    {"ConstantOfShapeTooLarge", "ConstantOfShape", {List({kHuge})}, {}, {}, false},
    {"ConstantOfShapeOverflows", "ConstantOfShape", {List({kHuge, kHuge})}, {}, {}, false},
    {"ConstantOfShapeHugeButEmpty", "ConstantOfShape", {List({kHuge, 0})}, {}, {}, false},
    {"ConstantOfShapeTooManyDimensions", "ConstantOfShape", {List(Ints(1000, 1))}, {}, {}, false},
    {"ExpandOverflows", "Expand", {List({kHuge, kHuge, 1, 1, 1, 1})}},
    {"ExpandNegative", "Expand", {List({-3, 1, 1, 1, 1})}},
    {"TileOverflows", "Tile", {List({kMost, kMost, kMost, kMost})}},
    {"TileNegative", "Tile", {List({-1, 1, 1, 1})}},
    {"TileTooLarge", "Tile", {List({kHuge, 1, 1, 1})}},
    {"PadOverflows", "Pad", {List({kMost, 0, 0, 0, kMost, 0, 0, 0})}},
    {"PadTooLarge", "Pad", {List({0, 0, 0, 0, 0, 0, 0, kHuge})}},
    {"PadRemovesTooMuch", "Pad", {List({0, 0, -9, 0, 0, 0, 0, 0})}},
    {"PadLeast", "Pad", {List({kLeast, 0, 0, 0, kLeast, 0, 0, 0})}},
    {"ResizeTooLarge", "Resize", {{{0}, {}}, {{0}, {}}, List({1, 2, kHuge, kHuge})}},
    {"ResizeNegative", "Resize", {{{0}, {}}, {{0}, {}}, List({1, 2, -8, 8})}},
    {"ResizeScaleZero", "Resize", {{{0}, {}}, {{4}, {}}}},
    {"RangeTooLong", "Range", {Scalar(0), Scalar(kMost), Scalar(1)}, {}, {}, false},
    {"RangeOverflows", "Range", {Scalar(kLeast), Scalar(kMost), Scalar(1)}, {}, {}, false},
    {"RangeStepZero", "Range", {Scalar(0), Scalar(9), Scalar(0)}, {}, {}, false},
    {"SliceStepZero", "Slice", {List({0}), List({9}), List({0}), List({0})}},
    {"OneHotTooDeep", "OneHot", {Scalar(kHuge), {{2}, {}}}},
    {"OneHotNegative", "OneHot", {Scalar(-4), {{2}, {}}}},
    {"TopKNegative", "TopK", {List({-1})}},
    {"TopKHuge", "TopK", {List({kHuge})}},
    {"SplitNegative", "Split", {List({-64})}},
    {"TransposeTwice", "Transpose", {}, {{"perm", {0, 0, 1, 2}}}},
    {"TransposeOutside", "Transpose", {}, {{"perm", {0, 1, 2, 9}}}},
    {"ConcatAxisOutside", "Concat", {}, {}, {{"axis", kMost}}},
    {"SoftmaxAxisOutside", "Softmax", {}, {}, {{"axis", kLeast}}},
    {"FlattenAxisOutside", "Flatten", {}, {}, {{"axis", kLeast}}},
    {"DepthToSpaceZero", "DepthToSpace", {}, {}, {{"blocksize", 0}}},
    {"DepthToSpaceHuge", "DepthToSpace", {}, {}, {{"blocksize", kHuge}}},
    {"SpaceToDepthNegative", "SpaceToDepth", {}, {}, {{"blocksize", -2}}},
    {"LrnSizeZero", "LRN", {}, {}, {{"size", 0}}},
    {"GatherAxisOutside", "Gather", {List({0})}, {}, {{"axis", 4}}},
    {"UnsqueezeTwice", "Unsqueeze", {List({1, 1})}},
    {"CumSumAxisOutside", "CumSum", {Scalar(kMost)}},
    {"MatMulDisagrees", "MatMul", {{{7, 3}, {}}}},
};

INSTANTIATE_TEST_SUITE_P(Load, BadDimensions, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(BadInput, DimensionsOfInitializers) {
  for (const Ints& dims :
       {Ints{-1}, Ints{kHuge}, Ints{kHuge, kHuge}, Ints{kLeast, 2}, Ints{0, kHuge, kHuge}}) {
    ModelProto m = ReluModel();
    AddRaw(m, "w", TensorProto::FLOAT, dims, "1234");
    EXPECT_NE(LoadError(m), "") << testing::PrintToString(dims);
  }
}

TEST_F(BadInput, DimensionsOfGraphInputs) {
  for (const Ints& dims : {Ints{kHuge}, Ints{kHuge, kHuge}, Ints{kMost, kMost, kMost}, Ints(9, 1)}) {
    ModelProto m = EmptyModel();
    AddInput(m, "x", dims);
    AddOp(m, "Relu", {"x"}, {"y"});
    AddOutput(m, "y");
    EXPECT_TRUE(Contains(LoadError(m), "[x] ")) << testing::PrintToString(dims);
  }
}

TEST_F(BadInput, AShapeThatDoesNotFitTheModel) {
  const std::string path = Write("m.onnx", ReluModel().SerializeAsString());
  LoadOptions options;
  for (const Shape& shape : {Shape{-1, 3}, Shape{kHuge, kHuge}, Shape{6}, Shape{2, 4}}) {
    options.input_shapes["x"] = shape;
    EXPECT_NE(LoadError(path, options), "") << ToString(shape);
  }
  options.input_shapes.clear();
  options.input_shapes["z"] = Shape{2, 3};
  EXPECT_TRUE(Contains(LoadError(path, options), "'z'"));
}

// A file of 1 kB has constants of 4 GB each: they must be computed at run time, not folded.
TEST_F(BadInput, HugeConstantsAreNotMadeWhileLoading) {
  ModelProto m = EmptyModel();
  AddRaw(m, "dims", TensorProto::INT64, {1}, RawOf<int64_t>({int64_t(1) << 20}));
  AddRaw(m, "many", TensorProto::INT64, {2}, RawOf<int64_t>({1000, int64_t(1) << 20}));
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    AddOp(m, "ConstantOfShape", {"dims"}, {"a" + n}, "small" + n);
    AddOp(m, "Expand", {"a" + n, "many"}, {"y" + n}, "large" + n);
    AddOutput(m, "y" + n);
  }
  const Model model = Model::Load(Write("m.onnx", m.SerializeAsString()));
  EXPECT_EQ(model.stats().nodes, 4);
}

// A product of 5000^3 steps is not begun while loading.
TEST_F(BadInput, FoldingHasALimitOfTime) {
  ModelProto m = EmptyModel();
  AddRaw(m, "dims", TensorProto::INT64, {2}, RawOf<int64_t>({5000, 5000}));
  AddOp(m, "ConstantOfShape", {"dims"}, {"a"}, "square");
  AddOp(m, "MatMul", {"a", "a"}, {"y"}, "product");
  AddOutput(m, "y");
  const double start_s = ComputedSeconds();
  EXPECT_EQ(LoadError(m), "");
  EXPECT_LT(ComputedSeconds() - start_s, 20);
}

}  // namespace
}  // namespace mete
