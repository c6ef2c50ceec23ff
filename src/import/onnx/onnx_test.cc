#include "import/onnx/onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "graph/operators.h"
#include "import/onnx/models_testing.h"

namespace mete {
namespace {

TEST(ImportOnnx, ReadsNodesInputsAndOutputs) {
  const Imported r = Import(ReluModel());
  ASSERT_EQ(r.graph.nodes.size(), 1u);
  EXPECT_EQ(r.graph.nodes[0].op, "Relu");
  EXPECT_EQ(r.graph.nodes[0].name, "Relu_y");
  EXPECT_EQ(Describe(r.graph.value(r.graph.inputs.at(0))), "f32 2x3");
  EXPECT_EQ(r.graph.value(r.graph.outputs.at(0)).name, "y");
  EXPECT_TRUE(r.notes.empty());
}

TEST(ImportOnnx, SortsNodesAndMakesNamesUnique) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  AddOp(m, "Relu", {"b"}, {"y"}, "same");
  AddOp(m, "Relu", {"a"}, {"b"}, "same");
  AddOp(m, "Relu", {"x"}, {"a"}, "same_1");
  AddOutput(m, "y");
  const Imported r = Import(m);
  ASSERT_EQ(r.graph.nodes.size(), 3u);
  EXPECT_EQ(r.graph.nodes[0].name, "same_1");
  EXPECT_EQ(r.graph.nodes[1].name, "same_2");
  EXPECT_EQ(r.graph.nodes[2].name, "same");
}

TEST(ImportOnnx, AnInitializerThatIsAlsoAnInputIsAConstant) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  AddInput(m, "w", {2});
  AddRaw(m, "w", TensorProto::FLOAT, {2}, RawOf<float>({1, 2}));
  AddOp(m, "Add", {"x", "w"}, {"y"});
  AddOutput(m, "y");
  const Imported r = Import(m);
  EXPECT_EQ(r.graph.inputs.size(), 1u);
  EXPECT_EQ(ValueNamed(r.graph, "w").constant.as<float>()[1], 2);
}

TEST(ImportOnnx, OpenDimensionsGetDefaultsAndANoteForEachInput) {
  ModelProto m = EmptyModel();
  AddInput(m, "image", {-1, -1, -1, 100}, {"N"});
  AddInput(m, "tokens", {-1, -1}, {"N", "T"});
  AddOp(m, "Relu", {"image"}, {"y"});
  AddOutput(m, "y");
  const Imported r = Import(m);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "image")), "f32 1x3x224x100");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "tokens")), "f32 1x16");
  ASSERT_EQ(r.notes.size(), 2u);
  EXPECT_EQ(r.notes[0],
            "input 'image' is Nx?x?x100 in the file: 1x3x224x100 is assumed; try --shape N=..., or --shape "
            "image=...");
  EXPECT_EQ(r.notes[1],
            "input 'tokens' is NxT in the file: 1x16 is assumed; try --shape T=..., or --shape tokens=...");
  EXPECT_EQ(r.declared.at("image"), (Shape{-1, -1, -1, 100}));
}

// Returns a model with tokens and a mask of open length, and a state of open length and fixed width.
ModelProto OpenModel() {
  ModelProto m = EmptyModel();
  AddInput(m, "ids", {-1, -1}, {"N", "T"});
  AddInput(m, "mask", {-1, -1}, {"N", "T"});
  AddInput(m, "state", {-1, -1, 8}, {"N", "P"});
  AddOp(m, "Relu", {"ids"}, {"y"});
  AddOutput(m, "y");
  return m;
}

TEST(ImportOnnx, OpenDimensionsAreGivenByTheirNames) {
  ImportOptions options;
  options.input_shapes = {{"T", Shape{5}}, {"state", Shape{2, 7, 8}}};
  const Imported r = Import(OpenModel(), options);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "ids")), "f32 2x5");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "mask")), "f32 2x5");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "state")), "f32 2x7x8");
  EXPECT_TRUE(r.notes.empty());
  options.input_shapes = {{"T", Shape{5, 6}}};
  EXPECT_TRUE(Contains(ImportError(OpenModel(), options), "dimension 'T' has one size; got 5x6"));
  options.input_shapes = {{"U", Shape{5}}};
  EXPECT_TRUE(
      Contains(ImportError(OpenModel(), options),
               "got 'U', expected one of 'ids', 'mask', 'state', or of the open dimensions 'N', 'P', 'T'"));
  options.input_shapes = {{"T", Shape{5}}, {"ids", Shape{1, 6}}};
  EXPECT_TRUE(
      Contains(ImportError(OpenModel(), options),
               "[ids] the given shape does not fit this input; got 1x6, expected NxT, with N=1, T=5"));
}

TEST(ImportOnnx, TensorsDecideWhatIsLeftOpenWhereTheyFit) {
  ImportOptions options;
  options.tensor_shapes = {{"ids", Shape{1, 5}}, {"state", Shape{1, 3, 9}}};
  const Imported r = Import(OpenModel(), options);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "ids")), "f32 1x5");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "mask")), "f32 1x5");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "state")), "f32 1x16x8");  // 9 is not 8; Run() will report it
  options.input_shapes = {{"T", Shape{6}}};                         // a given size precedes a tensor's
  EXPECT_EQ(Describe(ValueNamed(Import(OpenModel(), options).graph, "ids")), "f32 1x6");
}

TEST(ImportOnnx, TheBatchIsTheFirstDimensionWhereItIsOpen) {
  ImportOptions options;
  options.batch = 4;
  const Imported r = Import(OpenModel(), options);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "ids")), "f32 4x16");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "state")), "f32 4x16x8");
  EXPECT_EQ(Describe(ValueNamed(Import(ReluModel(), options).graph, "x")), "f32 2x3");
}

TEST(ImportOnnx, TheOnlyInputNeedsNoName) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {-1, 3}, {"N"});
  AddOp(m, "Relu", {"x"}, {"y"});
  AddOutput(m, "y");
  ImportOptions options;
  options.input_shapes = {{"", Shape{4, 3}}};
  EXPECT_EQ(Describe(ValueNamed(Import(m, options).graph, "x")), "f32 4x3");
  EXPECT_TRUE(
      Contains(ImportError(OpenModel(), options),
               "a shape without a name is given for 3 inputs; expected one of 'ids', 'mask', 'state'"));
}

TEST(ImportOnnx, TellsWhatTheFileSaysOfItself) {
  ModelProto m = ReluModel();
  m.set_producer_name("somebody");
  auto* entry = m.add_metadata_props();
  entry->set_key("author");
  entry->set_value("me\n");
  EXPECT_EQ(Import(m).metadata,
            (std::map<std::string, std::string>{{"author", "me?"}, {"producer", "somebody"}}));
}

TEST(ImportOnnx, KeysOfTheFileCollideWithNone) {
  ModelProto m = ReluModel();
  m.set_producer_name("somebody");
  m.set_producer_version("1.2");
  m.set_doc_string("a net\nof two lines");
  m.set_domain("org.example");
  m.set_model_version(7);
  m.mutable_graph()->set_doc_string("one Relu");
  for (const char* key : {"producer", "version", "names"}) {
    auto* entry = m.add_metadata_props();
    entry->set_key(key);
    entry->set_value(std::string("the author's ") + key);
  }
  auto* set = m.add_opset_import();
  set->set_domain("com.microsoft");
  set->set_version(1);
  const FileInfo file = Import(m).file;
  EXPECT_EQ(file.format, "ONNX");
  EXPECT_EQ(file.producer, "somebody");
  EXPECT_EQ(file.producer_version, "1.2");
  EXPECT_EQ(file.description, "a net\nof two lines");
  EXPECT_EQ(file.domain, "org.example");
  EXPECT_EQ(file.version, 7);
  EXPECT_EQ(file.graph_description, "one Relu");
  EXPECT_EQ(file.custom, (std::map<std::string, std::string>{{"producer", "the author's producer"},
                                                             {"version", "the author's version"},
                                                             {"names", "the author's names"}}));
  EXPECT_EQ(file.opsets.size(), 2u);
  EXPECT_EQ(file.opsets.at("com.microsoft"), 1);
  EXPECT_GT(file.opsets.at("ai.onnx"), 6);
}

TEST(ImportOnnx, AGivenShapeAlsoBindsTheNamesOfItsDimensions) {
  ModelProto m = EmptyModel();
  AddInput(m, "other", {-1, 5}, {"N"});
  AddInput(m, "x", {-1, 3}, {"N"});
  AddOp(m, "Relu", {"x"}, {"y"});
  AddOutput(m, "y");
  ImportOptions options;
  options.input_shapes["x"] = Shape{7, 3};
  const Imported r = Import(m, options);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "x")), "f32 7x3");
  EXPECT_EQ(Describe(ValueNamed(r.graph, "other")), "f32 7x5");
  EXPECT_TRUE(r.notes.empty());
}

TEST(ImportOnnx, AGivenShapeMustFit) {
  ImportOptions options;
  options.input_shapes["x"] = Shape{2, 4};
  EXPECT_TRUE(Contains(ImportError(ReluModel(), options),
                       "[x] the given shape does not fit this input; got 2x4, expected 2x3"));
  options.input_shapes = {{"image", Shape{1}}};
  EXPECT_TRUE(Contains(ImportError(ReluModel(), options), "unknown input; got 'image', expected one of 'x'"));
  // The request is wrong, the model is not.
  EXPECT_TRUE(StartsWith(ImportError(ReluModel(), options), "FAILED_PRECONDITION: "));
  ModelProto bad = ReluModel();
  AddRaw(bad, "w", TensorProto::FLOAT, {2}, "1234");
  EXPECT_TRUE(StartsWith(ImportError(bad, options), "INVALID_ARGUMENT: "));
}

TEST(ImportOnnx, ConstantNodesBecomeConstants) {
  ModelProto m = EmptyModel();
  AddInt(AddOp(m, "Constant", {}, {"i"}), "value_int", 5);
  AddInts(AddOp(m, "Constant", {}, {"l"}), "value_ints", {1, 2});
  auto* f = AddOp(m, "Constant", {}, {"f"}).add_attribute();
  f->set_name("value_float");
  f->set_type(AttributeProto::FLOAT);
  f->set_f(1.5f);
  auto* t = AddOp(m, "Constant", {}, {"t"}).add_attribute();
  t->set_name("value");
  t->set_type(AttributeProto::TENSOR);
  t->mutable_t()->set_data_type(TensorProto::DOUBLE);
  t->mutable_t()->add_dims(1);
  t->mutable_t()->set_raw_data(RawOf<double>({0.25}));
  for (const char* name : {"i", "l", "f", "t"}) AddOutput(m, name);
  const Imported r = Import(m);
  EXPECT_TRUE(r.graph.nodes.empty());
  EXPECT_EQ(ValueNamed(r.graph, "i").constant.as<int64_t>()[0], 5);
  EXPECT_EQ(Describe(ValueNamed(r.graph, "i")), "i64 scalar");
  EXPECT_EQ(ValueNamed(r.graph, "l").constant.as<int64_t>()[1], 2);
  EXPECT_EQ(ValueNamed(r.graph, "f").constant.as<float>()[0], 1.5f);
  EXPECT_EQ(ValueNamed(r.graph, "t").constant.as<double>()[0], 0.25);
}

TEST(ImportOnnx, AttributesThatNameATypeBecomeItsName) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  AddInt(AddOp(m, "Cast", {"x"}, {"y"}), "to", TensorProto::INT64);
  AddOutput(m, "y");
  EXPECT_EQ(Import(m).graph.nodes.at(0).attributes.String("to", ""), "i64");
}

TEST(ImportOnnx, ListsEverythingThatIsUnsupportedAtOnce) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  AddOp(m, "Frobnicate", {"x"}, {"a"}, "f1");
  AddOp(m, "Frobnicate", {"a"}, {"b"}, "f2");
  AddOp(m, "FusedThing", {"b"}, {"c"}, "ms").set_domain("com.example");
  AddInt(AddOp(m, "Cast", {"c"}, {"y"}, "cast"), "to", TensorProto::STRING);
  NodeProto& map = AddOp(m, "SequenceMap", {"y"}, {"z"}, "map");
  auto* g = map.add_attribute();
  g->set_name("body");
  g->set_type(AttributeProto::GRAPH);
  g->mutable_g();
  AddOutput(m, "z");
  const std::string error = ImportError(m);
  EXPECT_TRUE(StartsWith(error, "UNIMPLEMENTED: "));
  EXPECT_TRUE(Contains(error, "operator Frobnicate: Mete does not have it (2 times, first at 'f1')"));
  EXPECT_TRUE(Contains(error, "operator com.example.FusedThing"));
  EXPECT_TRUE(Contains(error, "asks for element type STRING"));
  EXPECT_TRUE(
      Contains(error,
               "operator SequenceMap: it has a subgraph, which only If, Loop and Scan may have here (1 "
               "time, first at 'map')"));
  EXPECT_EQ(error.find("operator SequenceMap"), error.rfind("operator SequenceMap")) << error;
}

TEST(ImportOnnx, ReportsInputsThatNobodyMakesAndValuesMadeTwice) {
  ModelProto m = ReluModel();
  AddOp(m, "Relu", {"nowhere"}, {"y"}, "second");
  const std::string error = ImportError(m);
  EXPECT_TRUE(StartsWith(error, "INVALID_ARGUMENT: "));
  EXPECT_TRUE(Contains(error, "[second] makes 'y', which is made elsewhere already"));
  EXPECT_TRUE(Contains(error, "[second] input 'nowhere' is made by no node"));
}

// A file must not contain these attributes, because kernels do not check what the passes write.
TEST(ImportOnnx, RefusesAttributesThatOnlyOurPassesWrite) {
  const std::vector<std::string> reserved{"layout",          "residual",   "activation",  "activation_alpha",
                                          "activation_beta", "sum_piece",  "into_offset", "into_channels",
                                          "levels",          "mete_caffe", "mete_layout"};
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1, 2, 3, 3});
  AddInput(m, "w", {2, 2, 1, 1});
  NodeProto& conv = AddOp(m, "Conv", {"x", "w"}, {"y"}, "conv");
  for (const std::string& name : reserved) AddInt(conv, name, 1);
  AddOutput(m, "y");
  const std::string error = ImportError(m);
  EXPECT_TRUE(StartsWith(error, "INVALID_ARGUMENT: "));
  for (const std::string& name : reserved)
    EXPECT_TRUE(Contains(
        error, "[conv] attribute '" + name + "' is none of operator Conv: only Mete's own passes write it"));
}

// Upsample is no operator of Graph: it becomes Resize.
TEST(ImportOnnx, RefusesReservedAttributesOfAnOperatorThatGetsAnotherName) {
  ModelProto m = EmptyModel(7);
  AddInput(m, "x", {1, 1, 2, 2});
  NodeProto& up = AddOp(m, "Upsample", {"x"}, {"y"}, "up");
  AddFloats(up, "scales", {1, 1, 2, 2});
  AddInt(up, "into_channels", 1);
  AddOutput(m, "y");
  EXPECT_TRUE(Contains(ImportError(m), "[up] attribute 'into_channels' is none of operator Resize"));
}

TEST(ImportOnnx, RefusesOperatorsThatOnlyOurPassesMakeAllAtOnce) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {4, 4});
  std::string last = "x";
  const std::vector<std::string> own{"mete.ByteTable",
                                     "mete.Custom",
                                     "mete.DetectionOutput",
                                     "mete.Elementwise",
                                     "mete.LabelEncoder",
                                     "mete.LRNWithin",
                                     "mete.MatMul",
                                     "mete.Normalize",
                                     "mete.Power",
                                     "mete.QLinearAdd",
                                     "mete.QLinearAveragePool",
                                     "mete.QLinearGlobalAveragePool",
                                     "mete.QLinearMul",
                                     "mete.ScaledConvInteger",
                                     "mete.ScaledMatMulInteger",
                                     "mete.TreeEnsemble"};
  for (const std::string& op : own) {
    AddOp(m, op, {last, last}, {op + "_out"}, "n_" + op);
    last = op + "_out";
  }
  AddOp(m, "mete.MatMul", {last, last}, {"y"}, "in_our_domain").set_domain("ai.onnx");
  AddOutput(m, "y");
  const std::string error = ImportError(m);
  EXPECT_TRUE(StartsWith(error, "INVALID_ARGUMENT: "));
  for (const std::string& op : own)
    EXPECT_TRUE(Contains(error, "[n_" + op + "] operator " + op + " is none of ONNX"));
  EXPECT_TRUE(Contains(error, "[in_our_domain] operator mete.MatMul is none of ONNX"));
  const auto all = AllOperators();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const OpSchema* op) { return std::string_view(op->name).starts_with("mete."); }),
            int(own.size()))
      << "one of ours is not in this test";
}

TEST(ImportOnnx, RefusesOurOperatorsAsADomainToo) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {4, 4});
  AddOp(m, "MatMul", {"x", "x"}, {"y"}, "product").set_domain("mete");
  AddOutput(m, "y");
  EXPECT_TRUE(Contains(ImportError(m), "operator mete.MatMul: its domain is not ai.onnx"));
}

// Mete's passes may add a bias to MatMul, and the channels of other Convs to a Conv.
TEST(ImportOnnx, RefusesInputsThatOnlyOurPassesAdd) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {4, 4});
  AddInput(m, "b", {4});
  AddOp(m, "MatMul", {"x", "x", "b"}, {"y"}, "product");
  AddOp(m, "Gemm", {"x", "x", "b", "y"}, {"z"}, "gemm");
  AddOp(m, "Conv", {"x", "x", "b", "", "y"}, {"v"}, "conv");
  AddOutput(m, "z");
  const std::string error = ImportError(m);
  EXPECT_TRUE(Contains(error, "[product] MatMul has too many inputs; got 3, expected at most 2"));
  EXPECT_TRUE(Contains(error, "[gemm] Gemm has too many inputs; got 4, expected at most 3"));
  EXPECT_TRUE(Contains(error, "[conv] Conv has too many inputs; got 5, expected at most 3"));
}

TEST(ImportOnnx, ReportsACycle) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  AddOp(m, "Add", {"x", "b"}, {"a"}, "first");
  AddOp(m, "Relu", {"a"}, {"b"}, "second");
  AddOutput(m, "b");
  EXPECT_TRUE(Contains(ImportError(m), "the nodes form a cycle"));
  EXPECT_TRUE(Contains(ImportError(m), "first, second"));
}

TEST(ImportOnnx, AnOutputMustBeMadeAndBeThere) {
  ModelProto m = ReluModel();
  AddOutput(m, "nothing");
  EXPECT_TRUE(Contains(ImportError(m), "[the model's outputs] input 'nothing' is made by no node"));
  m.mutable_graph()->clear_output();
  EXPECT_TRUE(Contains(ImportError(m), "the model has no outputs"));
}

TEST(ImportOnnx, RejectsImpossibleInputDimensions) {
  ModelProto m = ReluModel();
  auto* dim = m.mutable_graph()
                  ->mutable_input(0)
                  ->mutable_type()
                  ->mutable_tensor_type()
                  ->mutable_shape()
                  ->mutable_dim(0);
  dim->set_dim_value(-5);
  EXPECT_TRUE(Contains(ImportError(m), "[x] input has impossible dimensions; got -5x3"));
  dim->set_dim_value(int64_t(1) << 62);
  EXPECT_TRUE(Contains(ImportError(m), "[x] input has impossible dimensions"));
  dim->set_dim_value(-1);  // as Paddle's exporter writes an open dimension
  const Imported open = Import(m, {.input_shapes = {{"x", {4, 3}}}});
  EXPECT_EQ(Describe(ValueNamed(open.graph, "x")), "f32 4x3");
  EXPECT_EQ(open.declared.at("x"), (Shape{-1, 3}));
  dim->set_dim_value(0);
  EXPECT_EQ(Describe(ValueNamed(Import(m).graph, "x")), "f32 0x3");
  dim->set_dim_param("?");  // which is no name: dimensions of one name have one size
  m.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("?");
  EXPECT_EQ(Describe(ValueNamed(Import(m, {.input_shapes = {{"x", {4, 5}}}}).graph, "x")), "f32 4x5");
}

TEST(ImportOnnx, AnInputMustBeATensorOfAKnownType) {
  ModelProto m = ReluModel();
  m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::STRING);
  EXPECT_TRUE(Contains(ImportError(m), "unsupported input: element type STRING"));
  m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_TRUE(Contains(ImportError(m), "it is neither a tensor nor an optional tensor"));
}

TEST(ImportOnnx, AnOptionalTensorIsOneThatTheCallerGives) {
  ModelProto m = ReluModel(18);
  auto* type = m.mutable_graph()->mutable_input(0)->mutable_type();
  const auto tensor = type->tensor_type();
  *type->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type() = tensor;
  EXPECT_EQ(Describe(ValueNamed(Import(m).graph, "x")), "f32 2x3");
  type->mutable_optional_type()->mutable_elem_type()->mutable_sequence_type();
  EXPECT_TRUE(Contains(ImportError(m), "it is neither a tensor nor an optional tensor"));
}

TEST(ImportOnnx, RejectsOpsetsThatAreTooNewOrTooOld) {
  EXPECT_TRUE(Contains(ImportError(ReluModel(99)), "the opset is too new; got 99"));
  EXPECT_EQ(ImportError(ReluModel(1)), "");
}

TEST(ImportOnnx, InlinesFunctionsWithTheirAttributesAndValues) {
  ModelProto m = EmptyModel();
  auto* f = m.add_functions();
  f->set_name("Twice");
  f->set_domain("mine");
  f->add_input("in");
  f->add_output("out");
  f->add_output("same");
  auto* import = f->add_opset_import();
  import->set_version(13);
  for (auto [from, to] : {std::pair("in", "mid"), std::pair("mid", "out")}) {
    auto* n = f->add_node();
    n->set_op_type("LeakyRelu");
    n->add_input(from);
    n->add_output(to);
    auto* a = n->add_attribute();
    a->set_name("alpha");
    a->set_type(AttributeProto::FLOAT);
    a->set_ref_attr_name("slope");
  }
  *f->mutable_output(1) = "in";
  AddInput(m, "x", {1});
  NodeProto& call = AddOp(m, "Twice", {"x"}, {"y", "z"});
  call.set_domain("mine");
  auto* slope = call.add_attribute();
  slope->set_name("slope");
  slope->set_type(AttributeProto::FLOAT);
  slope->set_f(0.5f);
  AddOutput(m, "y");
  AddOutput(m, "z");
  const Imported r = Import(m);
  ASSERT_EQ(r.graph.nodes.size(), 3u);
  EXPECT_EQ(r.graph.nodes[0].op, "Identity");
  EXPECT_EQ(r.graph.nodes[1].attributes.Float("alpha", 0), 0.5f);
  EXPECT_EQ(r.graph.value(r.graph.nodes[1].outputs[0]).name, "Twice#1/mid");
}

TEST(ImportOnnx, FunctionsThatCallThemselvesOrExplodeAreErrors) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1});
  for (int level = 0; level < 20; ++level) {  // the expansion would have 2^20 nodes
    auto* f = m.add_functions();
    f->set_name(fmt::format("f{}", level));
    f->set_domain("mine");
    f->add_input("a");
    for (int twice = 0; twice < 2; ++twice) {
      auto* n = f->add_node();
      n->set_op_type(level ? fmt::format("f{}", level - 1) : std::string("Relu"));
      n->set_domain(std::string(level ? "mine" : ""));
      n->add_input("a");
      if (!level) n->add_output(fmt::format("b{}", twice));
    }
  }
  AddOp(m, "f19", {"x"}, {}).set_domain("mine");
  AddOutput(m, "x");
  ImportOptions options;
  options.max_value_bytes = 1 << 20;
  EXPECT_TRUE(Contains(ImportError(m, options), "functions expand to too many nodes"));
  m.mutable_functions(0)->mutable_node(0)->set_domain("mine");
  m.mutable_functions(0)->mutable_node(0)->set_op_type(std::string("f0"));
  m.mutable_functions(0)->mutable_node(0)->clear_output();
  EXPECT_TRUE(Contains(ImportError(m), "function 'f0' calls itself"));
}

// Returns a model that uses many parts of the format.
std::string RichModel() {
  ModelProto m = EmptyModel(9);
  AddInput(m, "x", {-1, 2, 4, 4});
  AddRaw(m, "w", TensorProto::FLOAT, {2, 2, 1, 1}, RawOf<float>({1, 2, 3, 4}));
  AddOp(m, "Conv", {"x", "w"}, {"c"});
  AddInt(AddOp(m, "Softmax", {"c"}, {"s"}), "axis", 1);
  AddInts(AddOp(m, "ReduceMean", {"s"}, {"r"}), "axes", {2, 3});
  AddInts(AddOp(m, "Constant", {}, {"k"}), "value_ints", {1});
  AddOutput(m, "r");
  return m.SerializeAsString();
}

TEST(ImportOnnx, EveryPrefixOfAFileIsAnError) {
  const std::string whole = RichModel();
  EXPECT_NO_THROW(ImportBytes(whole));
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string error = CodedErrorOf([&] { ImportBytes(whole.substr(0, length)); });
    EXPECT_NE(error, "") << length;
  }
  EXPECT_TRUE(StartsWith(CodedErrorOf([] { ImportBytes(""); }), "DATA_LOSS: [test.onnx] the file is empty"));
  EXPECT_TRUE(StartsWith(CodedErrorOf([&] { ImportBytes(whole.substr(0, whole.size() - 20)); }),
                         "DATA_LOSS: [test.onnx] the file is truncated"));
  EXPECT_TRUE(StartsWith(CodedErrorOf([] { ImportBytes("<!DOCTYPE html><html>"); }), "DATA_LOSS: "));
}

TEST(ImportOnnx, RandomAndBitFlippedFilesNeverCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string whole = RichModel();
  ImportOptions options;
  options.max_value_bytes = 64 << 20;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    const int flips = 1 + int(random() % 8);
    for (int f = 0; f < flips; ++f) bytes[random() % bytes.size()] ^= char(1 << random() % 8);
    if (i % 3 == 0)
      for (char& c : bytes) c = char(random());
    CodedErrorOf([&] { ImportBytes(bytes, options); });
  }
}

TEST(ImportOnnx, AMissingFileIsNotFound) {
  EXPECT_TRUE(StartsWith(CodedErrorOf([] { ImportOnnx("/nowhere/model.onnx", ImportOptions{}); }),
                         "NOT_FOUND: [/nowhere/model.onnx]"));
}

}  // namespace
}  // namespace mete
