#include "serve/grpc_values/grpc_values.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "serve/protocol/requests_testing.h"
#include "serve/protocol/rest_answer.h"

namespace mete::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

// Moves the outputs of an answer's message into a request's: their messages have the same fields.
void AddInputs(const ModelInferResponse& answer, ModelInferRequest& request) {
  for (const auto& output : answer.outputs()) {
    auto& input = *request.add_inputs();
    ASSERT_TRUE(input.ParseFromString(output.SerializeAsString()));
  }
  *request.mutable_raw_input_contents() = answer.raw_output_contents();
}

ModelInferRequest RequestMessage(const InferRequest& request, bool raw) {
  InferAnswer answer;
  answer.parameters = request.parameters;
  answer.outputs = request.inputs;
  for (NamedTensor& output : answer.outputs) output.binary = raw;
  const ModelInferResponse written = MessageOf(answer);
  ModelInferRequest message;
  message.set_id(request.id);
  AddInputs(written, message);
  *message.mutable_parameters() = written.parameters();
  for (const RequestedOutput& output : request.outputs) {
    auto& to = *message.add_outputs();
    to.set_name(output.name);
    if (output.classes) (*to.mutable_parameters())["classification"].set_int64_param(output.classes);
  }
  return message;
}

InferRequest Read(const ModelInferRequest& message, const RequestBounds& bounds = {}) {
  const auto owned = std::make_shared<ModelInferRequest>(message);
  return RequestOf(*owned, bounds, owned);
}

TEST(RequestOf, GivesBackRandomRequestsAsRestDoes) {
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    InferRequest request = RandomRequest(random);
    for (const bool raw : {false, true}) {
      const ModelInferRequest message = RequestMessage(request, raw);
      InferRequest read = Read(message);
      EXPECT_EQ(read.binary_outputs, message.raw_input_contents_size() > 0 || request.inputs.empty());
      for (const RequestedOutput& output : read.outputs) EXPECT_EQ(output.binary, read.binary_outputs);
      // How outputs are asked for in bytes is each carrier's own.
      for (size_t i = 0; i < request.outputs.size(); ++i) read.outputs[i].binary = request.outputs[i].binary;
      read.binary_outputs = request.binary_outputs;
      ExpectSame(request, read);
      ExpectSame(Parse(BodyOf(request, Form::kFlat)), read);
    }
  }
}

TEST(RequestOf, UsesTheMessagesOwnBytes) {
  ModelInferRequest message;
  auto& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(100);
  std::vector<float> values(100, 2.5f);
  input.mutable_contents()->mutable_fp32_contents()->Assign(values.begin(), values.end());
  const auto typed = std::make_shared<ModelInferRequest>(message);
  EXPECT_EQ(RequestOf(*typed, {}, typed).inputs[0].tensor.data(),
            typed->inputs(0).contents().fp32_contents().data());
  EXPECT_NE(RequestOf(*typed, {}, nullptr).inputs[0].tensor.data(),
            typed->inputs(0).contents().fp32_contents().data());
  message.mutable_inputs(0)->clear_contents();
  message.add_raw_input_contents(std::string(reinterpret_cast<const char*>(values.data()), 400));
  const auto raw = std::make_shared<ModelInferRequest>(message);
  {
    const InferRequest request = RequestOf(*raw, {}, raw);
    EXPECT_EQ(request.inputs[0].tensor.data(), raw->raw_input_contents(0).data());
    EXPECT_EQ(request.inputs[0].tensor.as<float>()[99], 2.5f);
    EXPECT_EQ(raw.use_count(), 2);
  }
  EXPECT_EQ(raw.use_count(), 1);
}

ModelInferRequest OneInput(const std::string& datatype, std::vector<int64_t> shape) {
  ModelInferRequest message;
  auto& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype(datatype);
  for (const int64_t dim : shape) input.add_shape(dim);
  return message;
}

TEST(RequestOf, SaysWhatIsWrong) {
  EXPECT_TELLS(Read(OneInput("FP31", {1})), "[input 'x'] the datatype is unknown; got 'FP31'");
  EXPECT_TELLS(Read(OneInput("FP32", {-1})), "[input 'x'] a dimension is negative; got -1");
  EXPECT_TELLS(
      Read(OneInput("FP32", {2})),
      "[input 'x'] 'contents' do not fit the shape; got 0 elements for this datatype, expected 2 for 2");
  EXPECT_TELLS(Read(OneInput("FP16", {1})),
               "[input 'x'] 'contents' have no field for FP16; try raw_input_contents");
  EXPECT_TELLS(Read(OneInput("FP32", {1, 1, 1, 1, 1, 1, 1, 1, 1})), "too many dimensions; got 9");

  ModelInferRequest message = OneInput("INT8", {2});
  message.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
  message.mutable_inputs(0)->mutable_contents()->add_int_contents(-129);
  EXPECT_TELLS(Read(message),
               "[input 'x'] element 1 of 'contents' is no INT8; got -129, expected -128 to 127");
  message.add_raw_input_contents("ab");
  EXPECT_TELLS(Read(message), "[input 'x'] its elements are there twice");
  message.mutable_inputs(0)->clear_contents();
  EXPECT_EQ(Read(message).inputs[0].tensor.as<int8_t>()[1], 'b');
  message.add_raw_input_contents("ab");
  EXPECT_TELLS(Read(message), "[request] raw_input_contents are not those of the inputs; got 2, expected 1");
  *message.add_inputs() = message.inputs(0);
  EXPECT_TELLS(Read(message), "[input 'x'] the request names this input twice");
  message.mutable_raw_input_contents(0)->assign("abc");
  message.mutable_inputs(1)->set_name("");
  EXPECT_EQ(ErrorOf([&] { Read(message); }),
            "[input 'x'] its bytes do not fit its shape; got 3, expected 2 for 2 of INT8\n[input ''] the "
            "name is empty");

  message = OneInput("UINT16", {1});
  message.mutable_inputs(0)->mutable_contents()->add_uint_contents(65536);
  EXPECT_TELLS(Read(message), "element 0 of 'contents' is no UINT16; got 65536, expected 0 to 65535");

  message = {};
  message.add_outputs()->set_name("o");
  auto& parameters = *message.mutable_outputs(0)->mutable_parameters();
  parameters["classification"].set_string_param("3");
  EXPECT_TELLS(Read(message), "[output 'o'] 'classification' must be an int64_param");
  parameters["classification"].set_int64_param(0);
  EXPECT_TELLS(Read(message),
               "[output 'o'] 'classification' must be an int64_param; got 0, expected 1 or more");
  parameters["shared_memory_region"].set_string_param("r");
  EXPECT_TELLS(Read(message), "[output 'o'] shared memory is not supported");
}

TEST(RequestOf, KeepsItsBounds) {
  ModelInferRequest message = OneInput("FP64", {1000000, 1000000});
  EXPECT_TELLS(Read(message), "[input 'x'] the inputs have too many elements; got 1000000x1000000 of FP64");
  message = OneInput("INT8", {2});
  message.add_raw_input_contents("ab");
  EXPECT_EQ(Read(message, {.input_bytes = 2}).inputs.size(), 1u);
  EXPECT_TELLS(Read(message, {.input_bytes = 1}), "expected at most 1 more bytes");
  EXPECT_TELLS(Read(message, {.tensors = 0}),
               "[request] 'inputs' has too many items; got 1, expected 0 at most");
  message.clear_inputs();
  message.clear_raw_input_contents();
  message.add_outputs();
  EXPECT_TELLS(Read(message, {.tensors = 0}), "[request] 'outputs' has too many items");
}

TEST(RequestOf, ReadsParameters) {
  ModelInferRequest message;
  auto& p = *message.mutable_parameters();
  p["b"].set_bool_param(true);
  p["i"].set_int64_param(-1);
  p["d"].set_double_param(0.5);
  p["s"].set_string_param("t");
  p["u"].set_uint64_param(7);
  p["large"].set_uint64_param(UINT64_MAX);
  p["none"];
  EXPECT_EQ(
      Read(message).parameters,
      (Parameters{
          {"b", true}, {"i", int64_t(-1)}, {"d", 0.5}, {"s", "t"}, {"u", int64_t(7)}, {"large", 0x1p64}}));
}

TEST(MessageOf, WritesRawContentsForHalves) {
  InferAnswer answer{.model = "m", .version = "2", .id = "7", .parameters = {}, .outputs = {}};
  answer.outputs.resize(2);
  answer.outputs[0].name = "text";
  answer.outputs[0].shape = {1};
  answer.outputs[0].texts = {"ab"};
  ModelInferResponse message = MessageOf(answer);
  EXPECT_EQ(message.model_name() + message.model_version() + message.id(), "m27");
  EXPECT_EQ(message.outputs(0).contents().bytes_contents(0), "ab");
  EXPECT_EQ(message.raw_output_contents_size(), 0);
  answer.outputs[1].name = "half";
  answer.outputs[1].shape = {1};
  answer.outputs[1].tensor = Tensor(DType::kF16, {1});
  message = MessageOf(answer);
  EXPECT_FALSE(message.outputs(0).has_contents());
  EXPECT_EQ(message.raw_output_contents(0), std::string("\2\0\0\0ab", 6));
  EXPECT_EQ(message.raw_output_contents(1), std::string("\0\0", 2));
}

TEST(MessageOf, SaysWhatAServerKnows) {
  EXPECT_EQ(MessageOf(ServerMetadata{"mete", "1", {"a", "b"}}).ShortDebugString(),
            R"(name: "mete" version: "1" extensions: "a" extensions: "b")");
  EXPECT_EQ(
      MessageOf(ModelMetadata{"m", "onnx", {"1"}, {{"x", "FP32", {-1, 3}}}, {{"y", "BYTES", {}}}})
          .ShortDebugString(),
      R"(name: "m" versions: "1" platform: "onnx" inputs { name: "x" datatype: "FP32" shape: -1 shape: 3 } )"
      R"(outputs { name: "y" datatype: "BYTES" })");
  EXPECT_EQ(MessageOf(std::vector<IndexEntry>{{"m", "1", "READY", "r"}}).ShortDebugString(),
            R"(models { name: "m" version: "1" state: "READY" reason: "r" })");
  ModelStatistics m{.name = "m", .version = "1", .last_inference_ms = 5, .inferences = 3, .executions = 2};
  m.success = {1, 2};
  m.fail = {3, 4};
  m.queue = {5, 6};
  m.input = {7, 8};
  m.compute = {9, 10};
  m.output = {11, 12};
  m.batches[4] = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(
      MessageOf(std::vector<ModelStatistics>{m}).ShortDebugString(),
      "model_stats { name: \"m\" version: \"1\" last_inference: 5 inference_count: 3 execution_count: 2 "
      "inference_stats { success { count: 1 ns: 2 } fail { count: 3 ns: 4 } queue { count: 5 ns: 6 } "
      "compute_input { count: 7 ns: 8 } compute_infer { count: 9 ns: 10 } compute_output { count: 11 ns: 12 "
      "} "
      "cache_hit { } cache_miss { } } batch_stats { batch_size: 4 compute_input { count: 1 ns: 2 } "
      "compute_infer { count: 3 ns: 4 } compute_output { count: 5 ns: 6 } } }");
}

TEST(MessageOf, CanBeReadWhateverTheTextsAre) {
  const std::string odd = "\xff\"\xc3";
  InferAnswer answer{.model = odd, .version = odd, .id = odd, .parameters = {{odd, odd}}, .outputs = {}};
  answer.outputs.resize(1);
  answer.outputs[0].name = odd;
  answer.outputs[0].shape = {1};
  answer.outputs[0].texts = {odd};  // bytes: as they are
  ModelInferResponse read;
  ASSERT_TRUE(read.ParseFromString(MessageOf(answer).SerializeAsString()));
  EXPECT_EQ(read.id(), "\xef\xbf\xbd\"\xef\xbf\xbd");
  EXPECT_EQ(read.outputs(0).contents().bytes_contents(0), odd);
  EXPECT_EQ(Utf8("é😀a"), "é😀a");
}

TEST(CheckLoad, RefusesOtherModelsThanTheRepositorys) {
  inference::RepositoryModelLoadRequest message;
  (*message.mutable_parameters())["other"].set_bool_param(true);
  CheckLoad(message);
  (*message.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_TELLS(CheckLoad(message),
               "[request] a model is loaded as the repository has it; got the parameter 'config'");
}

}  // namespace
}  // namespace mete::serve
