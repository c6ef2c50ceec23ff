#include "serve/protocol/rest_answer.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "serve/protocol/requests_testing.h"

namespace mete::serve {
namespace {

TEST(AnswerBody, WritesListsAndBytes) {
  InferAnswer answer{.model = "m", .version = "3", .id = "7", .parameters = {{"a", true}}, .outputs = {}};
  answer.outputs.resize(3);
  answer.outputs[0].name = "scores";
  answer.outputs[0].tensor = Tensor::Floats({1, 2}, std::vector<float>{0.5, 2});
  answer.outputs[0].shape = {1, 2};
  answer.outputs[1].name = "labels";
  answer.outputs[1].shape = {2};
  answer.outputs[1].texts = {"ant", "a \"bee\""};
  answer.outputs[2] = answer.outputs[0];
  answer.outputs[2].name = "none";
  answer.outputs[2].tensor = Tensor(DType::kI64, {0});
  answer.outputs[2].shape = {0};
  RestAnswer made = AnswerBody(answer);
  EXPECT_EQ(made.json_bytes, std::nullopt);
  EXPECT_EQ(made.body, R"({"model_name":"m","model_version":"3","id":"7","parameters":{"a":true},"outputs":[)"
                       R"({"name":"scores","datatype":"FP32","shape":[1,2],"data":[0.5,2]},)"
                       R"({"name":"labels","datatype":"BYTES","shape":[2],"data":["ant","a \"bee\""]},)"
                       R"({"name":"none","datatype":"INT64","shape":[0],"data":[]}]})");

  answer.id.clear();
  answer.parameters.clear();
  for (NamedTensor& output : answer.outputs) output.binary = true;
  made = AnswerBody(answer);
  ASSERT_TRUE(made.json_bytes);
  EXPECT_EQ(made.body.substr(0, *made.json_bytes),
            R"({"model_name":"m","model_version":"3","outputs":[)"
            R"({"name":"scores","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}},)"
            R"({"name":"labels","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":18}},)"
            R"({"name":"none","datatype":"INT64","shape":[0],"parameters":{"binary_data_size":0}}]})");
  EXPECT_EQ(made.body.substr(*made.json_bytes),
            std::string("\0\0\0\x3f\0\0\0\x40\3\0\0\0ant\7\0\0\0a \"bee\"", 26));
}

TEST(AnswerBody, HasNoOutputs) {
  EXPECT_EQ(AnswerBody({}).body, R"({"model_name":"","model_version":"","outputs":[]})");
}

// The outputs of an answer have the form of the inputs of a request, so that the reader of these reads them.
TEST(AnswerBody, IsReadBackTheSame) {
  for (int seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    InferAnswer answer;
    answer.id = RandomText(random);
    answer.outputs = RandomRequest(random).inputs;
    for (NamedTensor& output : answer.outputs) output.binary = Below(random, 2) != 0;
    RestAnswer made = AnswerBody(answer);
    const size_t at = made.body.find("\"outputs\":[");
    made.body.replace(at, 10, "\"inputs\": ");
    const InferRequest read = Parse({made.body, made.json_bytes});
    EXPECT_EQ(read.id, answer.id);
    ASSERT_EQ(read.inputs.size(), answer.outputs.size());
    for (size_t i = 0; i < read.inputs.size(); ++i) ExpectSame(answer.outputs[i], read.inputs[i]);
  }
}

TEST(Bodies, AreJsonWhateverTheTextsAre) {
  const std::string odd = "\xff\"\\\n\x01\xc3";
  EXPECT_EQ(ErrorBody("a \"b\""), R"({"error":"a \"b\""})");
  EXPECT_EQ(ErrorBody(odd), "{\"error\":\"\xef\xbf\xbd\\\"\\\\\\n\\u0001\xef\xbf\xbd\"}");
  InferAnswer answer{.model = odd, .version = odd, .id = odd, .parameters = {{odd, odd}}, .outputs = {}};
  answer.outputs.resize(1);
  answer.outputs[0].name = odd;
  answer.outputs[0].shape = {1};
  answer.outputs[0].texts = {odd};
  for (const std::string& body :
       {AnswerBody(answer).body, HealthBody({true, true}, odd), ServerBody({odd, odd, {odd}}),
        ModelBody({odd, odd, {odd}, {{odd, odd, {}}}, {}}), IndexBody({{odd, odd, odd, odd}}),
        StatisticsBody({{.name = odd, .version = odd}})})
    EXPECT_TRUE(nlohmann::ordered_json::accept(body)) << body;
}

TEST(Bodies, SayWhatAServerKnows) {
  EXPECT_EQ(HealthBody({.live = true, .ready = false}), R"({"live":true,"ready":false})");
  EXPECT_EQ(HealthBody({.live = true, .ready = true}, "m"), R"({"name":"m","live":true,"ready":true})");
  EXPECT_EQ(ServerBody({"mete", "0.1.0", {"statistics"}}),
            R"({"name":"mete","version":"0.1.0","extensions":["statistics"]})");
  EXPECT_EQ(
      ModelBody({"m", "onnx", {"1", "2"}, {{"x", "FP32", {-1, 3}}}, {{"y", "BYTES", {}}}}),
      R"({"name":"m","versions":["1","2"],"platform":"onnx","inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]}],)"
      R"("outputs":[{"name":"y","datatype":"BYTES","shape":[]}]})");
  EXPECT_EQ(IndexBody({}), "[]");
  EXPECT_EQ(IndexBody({{"m", "1", "UNAVAILABLE", "why"}, {"m", "2", "READY", ""}}),
            R"([{"name":"m","version":"1","state":"UNAVAILABLE","reason":"why"},)"
            R"({"name":"m","version":"2","state":"READY","reason":""}])");
}

TEST(Bodies, HaveTheStatisticsOfEachBatchSize) {
  ModelStatistics m{.name = "m", .version = "1", .last_inference_ms = 5, .inferences = 3, .executions = 2};
  m.success = {2, 100};
  m.fail = {1, 7};
  m.queue = {2, 10};
  m.input = {2, 20};
  m.compute = {2, 30};
  m.output = {2, 40};
  m.batches[2] = {{1, 4}, {1, 5}, {1, 6}};
  EXPECT_EQ(
      StatisticsBody({m}),
      R"({"model_stats":[{"name":"m","version":"1","last_inference":5,"inference_count":3,"execution_count":2,)"
      R"("inference_stats":{"success":{"count":2,"ns":100},"fail":{"count":1,"ns":7},"queue":{"count":2,"ns":10},)"
      R"("compute_input":{"count":2,"ns":20},"compute_infer":{"count":2,"ns":30},"compute_output":{"count":2,"ns":40},)"
      R"("cache_hit":{"count":0,"ns":0},"cache_miss":{"count":0,"ns":0}},)"
      R"("batch_stats":[{"batch_size":2,"compute_input":{"count":1,"ns":4},"compute_infer":{"count":1,"ns":5},)"
      R"("compute_output":{"count":1,"ns":6}}]}]})");
  EXPECT_EQ(StatisticsBody({}), R"({"model_stats":[]})");
}

TEST(Datatypes, NameEachTypeOnce) {
  for (const DType type : kAllTypes) {
    EXPECT_STRNE(DatatypeOf(type), "");
    EXPECT_EQ(DTypeOfDatatype(DatatypeOf(type)), type);
  }
  EXPECT_STREQ(DatatypeOf(DType::kUnknown), "");
  EXPECT_STREQ(DatatypeOf(DType::kBF16), "BF16");
  for (const char* none : {"", "BYTES", "fp32", "FP8"}) EXPECT_EQ(DTypeOfDatatype(none), DType::kUnknown);
}

}  // namespace
}  // namespace mete::serve
