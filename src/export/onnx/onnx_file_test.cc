#include "export/onnx/onnx_file.h"

#include "base/errors_testing.h"
#include "import/onnx/models_testing.h"

namespace mete {
namespace {

Attributes With(const std::string& name, Attribute value) {
  Attributes a;
  a.Set(name, std::move(value));
  return a;
}

// An input x of 2x3, and y = Relu(x).
Graph ReluGraph() {
  Graph g;
  g.name = "net";
  const ValueId x = g.AddValue("x", DType::kF32, {2, 3}), y = g.AddValue("y", DType::kF32, {2, 3});
  g.inputs = {x};
  g.outputs = {y};
  g.AddNode("Relu", "relu", {x}, {y});
  return g;
}

TEST(OnnxFile, ComesBackAsItWas) {
  Graph g;
  g.name = "net";
  const ValueId x = g.AddValue("x", DType::kF32, {1, 2, 4, 4}), y = g.AddValue("y"), z = g.AddValue("z");
  const float weights[] = {1, -2, 3, -4};
  const ValueId w = g.AddConstant("w", Tensor::Floats({2, 2, 1, 1}, weights));
  g.inputs = {x};
  g.outputs = {z};
  g.AddNode("Conv", "conv", {x, w}, {y}, With("strides", Ints{2, 2}));
  Attributes elu = With("alpha", 0.5f);
  g.AddNode("Elu", "elu", {y}, {z}, elu);
  const Imported back = ImportBytes(OnnxFileOf(g));
  ASSERT_EQ(back.graph.nodes.size(), 2u);
  EXPECT_EQ(back.graph.name, "net");
  EXPECT_EQ(back.graph.nodes[0].name, "conv");
  EXPECT_EQ(back.graph.nodes[0].attributes.IntList("strides"), (Ints{2, 2}));
  EXPECT_EQ(back.graph.nodes[1].attributes.Float("alpha", 0), 0.5f);
  EXPECT_EQ(back.graph.value(back.graph.inputs[0]).shape, (Shape{1, 2, 4, 4}));
  EXPECT_EQ(back.graph.value(back.graph.outputs[0]).name, "z");
  const Tensor& read = ValueNamed(back.graph, "w").constant;
  ASSERT_EQ(read.shape(), (Shape{2, 2, 1, 1}));
  EXPECT_TRUE(std::equal(std::begin(weights), std::end(weights), read.as<float>()));
}

TEST(OnnxFile, NamesOfTypesAreNumbersInTheFile) {
  Graph g = ReluGraph();
  g.nodes[0].op = "Cast";
  g.nodes[0].attributes.Set("to", "i32");
  EXPECT_EQ(ImportBytes(OnnxFileOf(g)).graph.nodes[0].attributes.String("to", ""), "i32");
}

TEST(OnnxFile, ConstantsBelowEightBitsArePackedAndNeedTheirOpset) {
  struct Case {
    DType type;
    int64_t opset;
    std::string packed;
  };
  for (const Case& c : {Case{DType::kI4, 21, "\x7f\x08"}, Case{DType::kU2, 25, "\x0f"},
                        Case{DType::kF4E2M1, 23, "\x7f\x08"}, Case{DType::kF8E5M2, 21, "\xff\x07\xf8"}}) {
    Graph g = ReluGraph();
    const uint8_t bytes[] = {0xff, 7, 0xf8};
    Tensor weights(c.type, {3});
    std::copy(std::begin(bytes), std::end(bytes), weights.mutable_view().as<uint8_t>());
    const ValueId w = g.AddConstant("w", weights), z = g.AddValue("z", DType::kF32, {3});
    g.AddNode("Cast", "cast", {w}, {z}, With("to", "f32"));
    g.outputs = {z};
    ::onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(OnnxFileOf(g)));
    EXPECT_EQ(model.opset_import(0).version(), c.opset);
    EXPECT_EQ(model.graph().initializer(0).raw_data(), c.packed) << Name(c.type);
    EXPECT_EQ(ValueNamed(ImportBytes(OnnxFileOf(g)).graph, "w").constant.type(), c.type);
  }
}

TEST(OnnxFile, OpenDimensionsStayOpen) {
  const Graph g = ReluGraph();
  const Port port{"x", DType::kF32, {2, 3}, {-1, 3}, {"N", ""}};
  const Imported back = ImportBytes(OnnxFileOf(g, {std::span(&port, 1), {}}));
  EXPECT_EQ(back.declared.at("x"), (Shape{-1, 3}));
  EXPECT_EQ(back.dims.at("x"), (std::vector<std::string>{"N", ""}));
}

TEST(OnnxFile, EachValueHasANameOfItsOwn) {
  Graph g = ReluGraph();
  const float one = 1;
  const ValueId a = g.AddConstant("c", Tensor::Floats({}, std::span(&one, 1))),
                b = g.AddConstant("c", Tensor::Floats({}, std::span(&one, 1)));
  const ValueId inner = g.AddValue(""), y = g.AddValue("x");  // an output may not take an input's name
  g.AddNode("Add", "first", {g.outputs[0], a}, {inner});
  g.AddNode("Add", "second", {inner, b}, {y});
  g.outputs = {y};
  const Imported back = ImportBytes(OnnxFileOf(g));
  EXPECT_EQ(back.graph.nodes.size(), 3u);
  EXPECT_EQ(back.graph.value(back.graph.inputs[0]).name, "x");
}

TEST(OnnxFile, TheOpsetIsTheOldestThatHasAllOperators) {
  Graph g = ReluGraph();
  EXPECT_EQ(OpsetOf(g), 13);
  g.nodes[0].op = "HardSwish";
  EXPECT_EQ(OpsetOf(g), 14);
  g.nodes[0].op = "Gelu";
  EXPECT_EQ(OpsetOf(g), 20);
  g.nodes[0].op = "Reshape";
  EXPECT_EQ(OpsetOf(g), 13);
  g.nodes[0].attributes.Set("allowzero", int64_t(1));
  EXPECT_EQ(OpsetOf(g), 14);
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(OnnxFileOf(g)));
  EXPECT_EQ(model.opset_import(0).version(), 14);
  EXPECT_EQ(model.ir_version(), 7);
}

::onnx::TypeProto_Tensor OutputOf(const std::string& file) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(file));
  return model.graph().output(0).type().tensor_type();
}

// ONNX's checker asks for the shape of each output.
TEST(OnnxFile, OutputsHaveShapes) {
  const Graph g = ReluGraph();
  const auto fixed = OutputOf(OnnxFileOf(g));
  ASSERT_EQ(fixed.shape().dim_size(), 2);
  EXPECT_EQ(fixed.shape().dim(1).dim_value(), 3);
  const Port port{"x", DType::kF32, {2, 3}, {-1, 3}, {"N", ""}};
  const auto open = OutputOf(OnnxFileOf(g, {std::span(&port, 1), {}}));
  ASSERT_EQ(open.shape().dim_size(), 2);
  EXPECT_FALSE(open.shape().dim(0).has_dim_value());
}

// The type of what depends on the data of a run follows from the operators.
TEST(OnnxFile, OutputsOfUnknownShapesHaveTypes) {
  Graph g = ReluGraph();
  const ValueId picked = g.AddValue("picked", DType::kI64), numbers = g.AddValue("numbers"),
                twice = g.AddValue("twice");
  g.AddNode("NonZero", "nonzero", {g.outputs[0]}, {picked});
  g.AddNode("Cast", "cast", {picked}, {numbers}, With("to", "f32"));
  g.AddNode("Add", "add", {numbers, numbers}, {twice});
  g.outputs = {twice};
  EXPECT_EQ(OutputOf(OnnxFileOf(g)).elem_type(), TensorProto::FLOAT);
  g.outputs = {picked};
  EXPECT_EQ(OutputOf(OnnxFileOf(g)).elem_type(), TensorProto::INT64);
  g.outputs = {twice};
  g.nodes.back().op = "Det";
  EXPECT_TELLS(OnnxFileOf(g), "[twice] the type of this output is not known");
}

// Graph has a bias as the third input of a MatMul, and ONNX does not.
TEST(OnnxFile, TheBiasOfAMatMulIsAnAdd) {
  Graph g;
  const float weights[] = {1, 2, 3, 4, 5, 6}, bias[] = {7, 8};
  const ValueId x = g.AddValue("x", DType::kF32, {1, 3}), y = g.AddValue("y", DType::kF32, {1, 2});
  const ValueId w = g.AddConstant("w", Tensor::Floats({3, 2}, weights)),
                b = g.AddConstant("b", Tensor::Floats({2}, bias));
  const ValueId taken = g.AddValue("y_product", DType::kF32, {1, 2});
  g.inputs = {x};
  g.outputs = {y, taken};
  g.AddNode("MatMul", "dense", {x, w, b}, {y});
  g.AddNode("Relu", "dense_Add", {y}, {taken});
  const Graph back = ImportBytes(OnnxFileOf(g)).graph;
  ASSERT_EQ(back.nodes.size(), 3u);
  EXPECT_EQ(back.nodes[0].op, "MatMul");
  EXPECT_EQ(back.nodes[0].inputs.size(), 2u);
  EXPECT_EQ(back.nodes[1].op, "Add");
  EXPECT_EQ(back.nodes[1].name, "dense_Add_1");
  EXPECT_EQ(back.nodes[1].inputs[0], back.nodes[0].outputs[0]);
  EXPECT_EQ(back.value(back.nodes[1].outputs[0]).name, "y");
}

// An average by Caffe's rule divides by the part of the window within the padded input.
TEST(OnnxFile, PoolsOfCaffeArePoolsOfOnnx) {
  Graph g;
  const ValueId x = g.AddValue("x", DType::kF32, {1, 2, 6, 6}),
                most = g.AddValue("x", DType::kF32, {1, 2, 3, 3}),
                mean = g.AddValue("y", DType::kF32, {1, 2, 2, 2});
  g.inputs = {x};
  g.outputs = {mean};
  Attributes a = With("kernel_shape", Ints{3, 3});
  a.Set("strides", Ints{2, 2});
  a.Set("ceil_mode", int64_t(1));
  a.Set("mete_caffe", int64_t(1));
  g.AddNode("MaxPool", "most", {x}, {most}, a);
  a.Set("pads", Ints{1, 1, 1, 1});
  g.AddNode("AveragePool", "mean", {most}, {mean}, a);
  const Graph back = ImportBytes(OnnxFileOf(g)).graph;
  EXPECT_FALSE(back.nodes[0].attributes.Has("mete_caffe"));
  EXPECT_EQ(back.nodes[0].attributes.Int("ceil_mode", 0), 1);
  EXPECT_FALSE(back.nodes[0].attributes.Has("count_include_pad"));
  EXPECT_EQ(back.nodes[1].attributes.Int("count_include_pad", 0), 1);
}

TEST(OnnxFile, LabelsAreOfADomainOfTheirOwn) {
  Graph g = ReluGraph();
  const std::vector<float> keys{1.5f, 2};
  Node& node = g.nodes[0];
  node.op = "mete.LabelEncoder";
  node.inputs = {g.inputs[0], g.AddConstant("keys", Tensor::Floats({2}, keys)),
                 g.AddConstant("values", Tensor::Ints(Ints{-7, 10, 20}))};
  g.value(g.outputs[0]).type = DType::kUnknown;
  const Graph back = ImportBytes(OnnxFileOf(g)).graph;
  ASSERT_EQ(back.nodes.size(), 1u);
  EXPECT_EQ(back.nodes[0].op, "mete.LabelEncoder");
  const Tensor &k = back.value(back.nodes[0].inputs.at(1)).constant,
               &v = back.value(back.nodes[0].inputs.at(2)).constant;
  EXPECT_EQ(std::vector<float>(k.as<float>(), k.as<float>() + k.elements()), keys);
  EXPECT_EQ(Ints(v.as<int64_t>(), v.as<int64_t>() + v.elements()), (Ints{-7, 10, 20}));
}

TEST(OnnxFile, RefusesInputsThatOnnxLacks) {
  Graph g = ReluGraph();
  g.nodes[0].op = "MatMul";
  g.nodes[0].inputs = {g.inputs[0], g.inputs[0], kNoValue, g.inputs[0]};
  EXPECT_TELLS(OnnxFileOf(g),
               "[relu] it has more inputs than ONNX allows; got MatMul with 4, expected at most 2");
}

TEST(OnnxFile, RefusesOperatorsThatOnnxLacks) {
  Graph g = ReluGraph();
  g.nodes[0].op = "mete.ByteTable";
  EXPECT_TELLS(OnnxFileOf(g), "[relu] ONNX has no operator for it; got mete.ByteTable");
  g = ReluGraph();
  g.nodes[0].attributes.Set("mete_caffe", int64_t(1));
  EXPECT_TELLS(OnnxFileOf(g), "[relu] ONNX has no operator for it");
}

}  // namespace
}  // namespace mete
