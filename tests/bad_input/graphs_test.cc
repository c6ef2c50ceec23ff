// Valid files with an invalid network: wiring, operators, external data. Also invalid inputs of a session.
#include "bad_input.h"

namespace mete {
namespace {

TEST_F(BadInput, ACycleNamesItsNodes) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  AddOp(m, "Add", {"x", "b"}, {"a"}, "first");
  AddOp(m, "Relu", {"a"}, {"b"}, "second");
  AddOutput(m, "b");
  const std::string error = LoadError(m);
  EXPECT_TRUE(Contains(error, "cycle"));
  EXPECT_TRUE(Contains(error, "first"));
  EXPECT_TRUE(Contains(error, "second"));
}

TEST_F(BadInput, AnInputThatNobodyMakesIsNamed) {
  ModelProto m = ReluModel();
  m.mutable_graph()->mutable_node(0)->set_name("relu");
  *m.mutable_graph()->mutable_node(0)->mutable_input(0) = "nothing";
  const std::string error = LoadError(m);
  EXPECT_TRUE(Contains(error, "[relu]"));
  EXPECT_TRUE(Contains(error, "'nothing'"));
}

TEST_F(BadInput, AnInputThatIsLeftOutIsNamed) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  AddOp(m, "Add", {"x"}, {"y"}, "add");
  AddOutput(m, "y");
  EXPECT_TRUE(Contains(LoadError(m), "[add] Add needs input 1; got 1 inputs, expected at least 2"));
}

// The shape of its other input follows from data, so that nothing is inferred of it.
TEST_F(BadInput, AnInputThatIsLeftOutIsNamedWhereShapesAreUnknown) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  AddOp(m, "Unique", {"x"}, {"some"}, "unique");
  AddOp(m, "Add", {"some"}, {"y"}, "add");
  AddOutput(m, "y");
  EXPECT_TRUE(Contains(LoadError(m), "[add] Add needs input 1; got 1 inputs, expected at least 2"));
}

TEST_F(BadInput, UnsupportedOperatorsAreAllListedAndNothingIsWritten) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  AddOp(m, "NoSuch", {"x"}, {"a"}, "one");
  AddOp(m, "StringNormalizer", {"a"}, {"b"}, "two");
  AddOp(m, "NoSuch", {"b"}, {"c"}, "three");
  AddOp(m, "SequenceMap", {}, {"d"}, "four");
  AddOutput(m, "c");
  const std::string error = LoadError(m);
  EXPECT_TRUE(StartsWith(error, "UNIMPLEMENTED: "));
  EXPECT_TRUE(Contains(error, "NoSuch"));
  EXPECT_TRUE(Contains(error, "2 times, first at 'one'"));
  EXPECT_TRUE(Contains(error, "StringNormalizer"));
  EXPECT_TRUE(Contains(error, "SequenceMap"));
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "model"))
    ++files;
  EXPECT_EQ(files, 1);
}

class BadExternalData : public BadInput {
 protected:
  std::string ErrorFor(const std::string& location) {
    ModelProto m = EmptyModel();
    TensorProto& t = *m.mutable_graph()->add_initializer();
    t.set_name("w");
    t.set_data_type(TensorProto::FLOAT);
    t.add_dims(4);
    t.set_data_location(TensorProto::EXTERNAL);
    auto* e = t.add_external_data();
    e->set_key("location");
    e->set_value(location);
    AddOutput(m, "w");
    return LoadError(m);
  }
};

TEST_F(BadExternalData, MustBeThere) { EXPECT_TRUE(StartsWith(ErrorFor("none.bin"), "NOT_FOUND: ")); }

TEST_F(BadExternalData, MustBeLongEnough) {
  Write("short.bin", "123456789012345");
  EXPECT_TRUE(Contains(ErrorFor("short.bin"),
                       "'w'] external data 'short.bin' is too short; got 15 bytes, expected 16 from byte 0"));
}

TEST_F(BadExternalData, MustBeInTheModelsFolder) {
  std::ofstream(folder_ / "secret.bin") << "1234567890123456";
  std::filesystem::create_symlink(folder_ / "secret.bin", folder_ / "model" / "link.bin");
  for (const std::string& location : {std::string("../secret.bin"), (folder_ / "secret.bin").string(),
                                      std::string("link.bin"), std::string("/etc/passwd")})
    EXPECT_TRUE(Contains(ErrorFor(location), "outside the model's folder")) << location;
}

class BadRun : public BadInput {
 protected:
  std::string RunError(const std::vector<Tensor>& inputs) {
    const Model model = Model::Load(Write("model.onnx", ReluModel().SerializeAsString()));
    Session session(model, SessionOptions::Estimated());
    try {
      session.Run(inputs);
    } catch (const Error& e) {
      ExpectForm(e.what());
      return e.what();
    }
    return "";
  }
};

TEST_F(BadRun, TheSoundInputRuns) { EXPECT_EQ(RunError({Tensor(DType::kF32, {2, 3})}), ""); }

TEST_F(BadRun, AWrongShapeIsNamed) {
  EXPECT_TRUE(
      Contains(RunError({Tensor(DType::kF32, {3, 2})}), "[x] wrong input shape; got 3x2, expected 2x3"));
  EXPECT_TRUE(Contains(RunError({Tensor(DType::kF32, {6})}), "got 6, expected 2x3"));
}

TEST_F(BadRun, AWrongTypeIsNamed) {
  EXPECT_TRUE(
      Contains(RunError({Tensor(DType::kI64, {2, 3})}), "[x] wrong input type; got i64, expected f32"));
}

TEST_F(BadRun, AWrongNumberOfInputsIsNamed) {
  EXPECT_TRUE(Contains(RunError({}), "got 0, expected 1"));
  EXPECT_TRUE(
      Contains(RunError({Tensor(DType::kF32, {2, 3}), Tensor(DType::kF32, {2, 3})}), "got 2, expected 1"));
  EXPECT_NE(RunError({Tensor()}), "");
}

}  // namespace
}  // namespace mete
