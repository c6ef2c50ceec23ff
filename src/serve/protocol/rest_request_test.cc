#include "serve/protocol/rest_request.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "serve/protocol/requests_testing.h"

namespace mete::serve {
namespace {

InferRequest ParseJsonBody(const std::string& body, const RequestBounds& bounds = {}) {
  return Parse({body, std::nullopt}, bounds);
}

// A body with one input, of which `rest` is all but the name.
std::string OneInput(const std::string& rest) { return R"({"inputs":[{"name":"x",)" + rest + "}]}"; }

RestBody OneBinary(const std::string& datatype, const std::string& shape, const std::string& bytes) {
  const std::string json =
      OneInput("\"datatype\":\"" + datatype + "\",\"shape\":" + shape +
               ",\"parameters\":{\"binary_data_size\":" + std::to_string(bytes.size()) + "}");
  return {json + bytes, json.size()};
}

TEST(ParseInfer, ReadsAllThatARequestSays) {
  const InferRequest request =
      ParseJsonBody(R"({"id":"7","parameters":{"a":1,"b":-2.5,"c":true,"d":"text","e":null,
    "f":18446744073709551615,"binary_data_output":true},
    "inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2],"parameters":{"other":1}}],
    "outputs":[{"name":"a"},{"name":"b","parameters":{"binary_data":false,"classification":3}}],"unknown":{"data":[1]}})");
  EXPECT_EQ(request.id, "7");
  EXPECT_EQ(request.parameters,
            (Parameters{{"a", int64_t(1)}, {"b", -2.5}, {"c", true}, {"d", "text"}, {"f", 0x1p64}}));
  EXPECT_TRUE(request.binary_outputs);
  ASSERT_EQ(request.inputs.size(), 1u);
  EXPECT_EQ(request.inputs[0].name, "x");
  EXPECT_EQ(request.inputs[0].tensor.as<float>()[1], 2);
  ASSERT_EQ(request.outputs.size(), 2u);
  EXPECT_TRUE(request.outputs[0].binary);
  EXPECT_FALSE(request.outputs[1].binary);
  EXPECT_EQ(request.outputs[0].classes, 0);
  EXPECT_EQ(request.outputs[1].classes, 3);
}

TEST(ParseInfer, TakesNullForWhatIsLeftOut) {
  const InferRequest request = ParseJsonBody(
      R"({"id":null,"parameters":null,"outputs":null,"inputs":[{"name":"x","shape":[1],"datatype":"INT8","parameters":null,"data":[1]}]})");
  EXPECT_EQ(request.id, "");
  EXPECT_TRUE(request.outputs.empty());
  EXPECT_EQ(request.inputs.size(), 1u);
}

TEST(ParseInfer, GivesBackRandomRequestsInEachForm) {
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const InferRequest request = RandomRequest(random);
    for (const Form form : {Form::kFlat, Form::kNested, Form::kBytes}) {
      SCOPED_TRACE("form " + std::to_string(int(form)));
      const RestBody rest = BodyOf(request, form);
      SCOPED_TRACE(rest.body.substr(0, rest.json_bytes.value_or(rest.body.size())));
      ExpectSame(request, Parse(rest));
    }
  }
}

TEST(ParseInfer, SaysAllProblemsAtOnce) {
  const std::string body = R"({"id":5,"parameters":{"p":[]},
    "inputs":[{"name":"a","shape":[1],"datatype":"FP31","data":[1]},{"name":"b","shape":[1],"datatype":"INT8","data":[200]},
              {"name":"ok","shape":[1],"datatype":"INT8","data":[100]},{"shape":[1]},7],
    "outputs":[{"name":"o"},{"name":"o"}]})";
  EXPECT_EQ(
      ErrorOf([&] { ParseJsonBody(body); }),
      "[request] 'id' must be a string; got a number\n"
      "[request] parameter 'p' must be a string, a number, true or false; got a array\n"
      "[input 'a'] the datatype is unknown; got 'FP31', expected BOOL, UINT8, UINT16, UINT32, UINT64, INT8, "
      "INT16, INT32, INT64, FP16, BF16, FP32, FP64 or BYTES\n"
      "[input 'b'] element 0 of 'data' is no INT8; got '200', expected a whole number from -128 to 127\n"
      "[input 3] 'name' is missing\n"
      "[input 4] an input must be an object; got a number\n"
      "[output 'o'] the request names this output twice; expected it once");
}

TEST(ParseInfer, RefusesBodiesThatAreNoRequests) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "[request] the body is no JSON; syntax error"},
      {"{", "[request] the body is no JSON; syntax error"},
      {"{} x", "[request] the body is no JSON; syntax error"},
      {"{\"a\":\"\xff\"}", "[request] the body is no JSON; syntax error"},
      {"[]", "[request] the body must be an object; got a array"},
      {"7", "[request] the body must be an object; got a number"},
      {"{}", "[request] 'inputs' is missing"},
      {R"({"inputs":{}})", "[request] 'inputs' must be a list; got a object"},
      {R"({"inputs":[],"outputs":1})", "[request] 'outputs' must be a list; got a number"},
      {R"({"inputs":[],"outputs":[1]})", "[output 0] an output must be an object; got a number"},
      {R"({"inputs":[],"outputs":[{}]})", "[output 0] 'name' is missing"},
      {R"({"inputs":[],"outputs":[{"name":""}]})", "[output ''] the name is empty"},
      {R"({"inputs":[],"outputs":[{"name":"a","parameters":[]}]})",
       "[output 'a'] 'parameters' must be an object"},
      {R"({"inputs":[],"outputs":[{"name":"a","parameters":{"binary_data":1}}]})",
       "[output 'a'] 'binary_data' must be true or false; got a number"},
      {R"({"inputs":[],"outputs":[{"name":"a","parameters":{"classification":0}}]})",
       "[output 'a'] 'classification' is out of range; got 0"},
      {R"({"inputs":[],"outputs":[{"name":"a","parameters":{"shared_memory_region":"r"}}]})",
       "[output 'a'] shared memory is not supported"},
      {R"({"inputs":[],"parameters":[]})", "[request] 'parameters' must be an object; got a array"},
      {R"({"inputs":[],"parameters":{"binary_data_output":1}})",
       "[request] 'binary_data_output' must be true or false; got a number"},
  };
  for (const auto& [body, text] : cases) {
    SCOPED_TRACE(body);
    EXPECT_TELLS(ParseJsonBody(body), text);
  }
  EXPECT_TELLS(ParseJsonBody(R"({"inputs":)" + std::string(100, '[')), "nested too deep");
}

TEST(ParseInfer, RefusesInputsThatAreNone) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("shape":[1],"data":[1])", "[input 'x'] 'datatype' is missing"},
      {R"("datatype":"INT8","data":[1])", "[input 'x'] 'shape' is missing"},
      {R"("datatype":"INT8","shape":[1])",
       "[input 'x'] its elements are missing; expected 'data' or 'binary_data_size'"},
      {R"("datatype":5,"shape":[1],"data":[1])", "[input 'x'] 'datatype' must be a string; got a number"},
      {R"("datatype":"INT8","shape":1,"data":[1])", "[input 'x'] 'shape' must be a list; got a number"},
      {R"("datatype":"INT8","shape":[1.5],"data":[1])", "[input 'x'] a dimension must be a whole number"},
      {R"("datatype":"INT8","shape":[-1],"data":[1])",
       "[input 'x'] a dimension is negative; got -1, expected 0 or more"},
      {R"("datatype":"INT8","shape":[1,1,1,1,1,1,1,1,1],"data":[1])",
       "[input 'x'] the shape has too many dimensions; got 9, expected at most 8"},
      {R"("datatype":"INT8","shape":[1],"data":5)", "[input 'x'] 'data' must be a list; got a number"},
      {R"("datatype":"INT8","shape":[1],"data":"abc")", "[input 'x'] 'data' must be a list; got a string"},
      {R"("datatype":"INT8","shape":[1],"data":[1],"parameters":7)",
       "[input 0] 'parameters' must be an object"},
      {R"("datatype":"INT8","shape":[1],"parameters":{"binary_data_size":1})",
       "[input 'x'] 'binary_data_size' needs the header Inference-Header-Content-Length, which is missing"},
      {R"("datatype":"INT8","shape":[1],"parameters":{"binary_data_size":-1})",
       "[input 'x'] 'binary_data_size' is out of range; got -1"},
      {R"("datatype":"INT8","shape":[1],"parameters":{"shared_memory_region":"r"})",
       "[input 'x'] shared memory is not supported; try to send the elements"},
  };
  for (const auto& [rest, text] : cases) {
    SCOPED_TRACE(rest);
    EXPECT_TELLS(ParseJsonBody(OneInput(rest)), text);
  }
  EXPECT_TELLS(ParseJsonBody(R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[1]},)"
                             R"({"name":"x","datatype":"INT8","shape":[1],"data":[1]}]})"),
               "[input 'x'] the request names this input twice");
}

TEST(ParseInfer, RefusesBytesThatDoNotFit) {
  const auto error = [](const RestBody& rest) { return ErrorOf([&] { Parse(rest); }); };
  EXPECT_EQ(error(OneBinary("FP32", "[2]", "1234567")),
            "[input 'x'] its bytes do not fit its shape; got 7, expected 8 for 2 of FP32");
  EXPECT_EQ(error(OneBinary("BOOL", "[2]", std::string("\0\2", 2))),
            "[input 'x'] element 1 is no BOOL; got 2, expected a byte 0 or 1");
  EXPECT_EQ(error(OneBinary("BYTES", "[2]", "1234567")),
            "[input 'x'] its bytes are too few; got 7, expected 2 texts, each behind four bytes of length");
  EXPECT_EQ(error(OneBinary("BYTES", "[1]", std::string("\5\0\0\0abcd", 8))),
            "[input 'x'] its bytes end in text 0 of 1; got 4 bytes there, expected 5");
  EXPECT_EQ(error(OneBinary("BYTES", "[2]", std::string("\1\0\0\0abcd", 8))),
            "[input 'x'] its bytes end in text 1 of 2; got 3 bytes there, expected 4");
  EXPECT_EQ(error(OneBinary("BYTES", "[1]", std::string("\1\0\0\0abc", 7))),
            "[input 'x'] its bytes are too many; got 2 behind the last of 1 texts");
  RestBody rest = OneBinary("INT8", "[2]", "ab");
  rest.body += "c";
  EXPECT_EQ(error(rest),
            "[request] elements in bytes belong to no input; got 1 bytes behind those of the last input");
  rest.body.resize(rest.body.size() - 2);
  EXPECT_EQ(error(rest), "[input 'x'] its bytes are not all in the body; got 1, expected 2");
  rest.json_bytes = 1000;
  EXPECT_TELLS(Parse(rest), "[request] the body is shorter than Inference-Header-Content-Length; got");
  rest.json_bytes = 0;
  EXPECT_TELLS(Parse(rest), "[request] the body is no JSON");
  const std::string both =
      OneInput(R"("datatype":"INT8","shape":[1],"data":[1],"parameters":{"binary_data_size":1})");
  EXPECT_EQ(error({both + "a", both.size()}),
            "[input 'x'] its elements are there twice; got 'data' beside 'binary_data_size'");
}

// What is wrong with one input does not make the next one look wrong.
TEST(ParseInfer, GivesEachInputItsBytesAfterAnError) {
  const std::string json =
      R"({"inputs":[{"name":"a","datatype":"NONE","shape":[1],"parameters":{"binary_data_size":3}},)"
      R"({"name":"b","datatype":"BOOL","shape":[1],"parameters":{"binary_data_size":1}}]})";
  const std::string error = ErrorOf([&] { Parse({json + std::string("\7\7\7\1", 4), json.size()}); });
  EXPECT_TRUE(error.starts_with("[input 'a'] the datatype is unknown")) << error;
  EXPECT_EQ(error.find('\n'), error.npos) << error;
}

Code CodeOf(const std::string& body, const RequestBounds& bounds) {
  try {
    ParseJsonBody(body, bounds);
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

TEST(ParseInfer, KeepsItsBounds) {
  const auto input = [](const char* name, const char* type, const char* shape, const char* data) {
    return std::string(R"({"name":")") + name + R"(","datatype":")" + type + R"(","shape":)" + shape +
           R"(,"data":)" + data + "}";
  };
  const std::string body =
      "{\"inputs\":[" + input("a", "FP32", "[2]", "[1,2]") + "," + input("b", "INT8", "[2]", "[1,2]") + "]}";
  EXPECT_EQ(CodeOf(body, {.input_bytes = 10}), Code::kOk);
  EXPECT_EQ(CodeOf(body, {.input_bytes = 9}), Code::kResourceExhausted);
  EXPECT_TELLS(ParseJsonBody(body, {.input_bytes = 9}),
               "[input 'b'] the inputs have too many elements; got 2 of INT8, expected at most 1 more bytes");
  EXPECT_EQ(CodeOf(body, {.tensors = 2}), Code::kOk);
  EXPECT_EQ(CodeOf(body, {.tensors = 1}), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(R"({"inputs":[{},{}]})", {.tensors = 1}), Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(R"({"inputs":[],"outputs":[{"name":"a"},{"name":"b"}]})", {.tensors = 1}),
            Code::kResourceExhausted);
  EXPECT_EQ(CodeOf(body, {.json_bytes = 50}), Code::kResourceExhausted);
  for (const char* shape : {"[4611686018427387904,4]", "[9223372036854775807,9223372036854775807]",
                            "[0,9223372036854775807]", "[1000000,1000000]"})
    EXPECT_EQ(CodeOf("{\"inputs\":[" + input("a", "FP64", shape, "[1]") + "]}", {}), Code::kResourceExhausted)
        << shape;
  // A text takes a std::string, however short it is.
  const std::string texts = "{\"inputs\":[" + input("a", "BYTES", "[2]", "[\"\",\"\"]") + "]}";
  EXPECT_EQ(CodeOf(texts, {.input_bytes = 2 * int64_t(sizeof(std::string))}), Code::kOk);
  EXPECT_EQ(CodeOf(texts, {.input_bytes = 2 * int64_t(sizeof(std::string)) - 1}), Code::kResourceExhausted);
}

TEST(ParseInfer, ErrorsStayShort) {
  const std::string name(100000, 'n');
  const std::string error = ErrorOf([&] { ParseJsonBody("{\"inputs\":[{\"name\":\"" + name + "\"}]}"); });
  EXPECT_EQ(error, "[input '" + name.substr(0, 60) + "...'] 'datatype' is missing");
}

TEST(ParseInfer, UsesAlignedBytesWhereTheyLie) {
  const std::string json = OneInput(R"("datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8})");
  for (const size_t apart : {0, 1, 4}) {
    const auto memory = std::make_shared<std::vector<std::byte>>(json.size() + 200);
    std::byte* elements = memory->data() + json.size();
    elements += (64 - reinterpret_cast<uintptr_t>(elements) % 64) % 64 + apart;
    std::memcpy(elements - json.size(), json.data(), json.size());
    const float values[2] = {1.5f, -2};
    std::memcpy(elements, values, sizeof(values));
    const std::span<const std::byte> body(elements - json.size(), json.size() + sizeof(values));
    {
      const InferRequest request = ParseInfer(body, json.size(), {}, memory);
      const Tensor& tensor = request.inputs[0].tensor;
      EXPECT_EQ(tensor.data() == elements, apart % 4 == 0);
      EXPECT_EQ(memory.use_count(), apart % 4 == 0 ? 2 : 1);
      EXPECT_EQ(tensor.as<float>()[0], 1.5f);
      EXPECT_EQ(tensor.as<float>()[1], -2);
    }
    EXPECT_EQ(memory.use_count(), 1);
    EXPECT_NE(ParseInfer(body, json.size(), {}, nullptr).inputs[0].tensor.data(), elements);
  }
}

// A key that a writer has escaped, and a list of one number that looks like the mark of a list.
TEST(ParseInfer, DoesNotMistakeListsForEachOther) {
  const InferRequest request =
      ParseJsonBody(R"({"inputs":[{"name":"x","datatype":"INT8","shape":[1],"d\u0061ta":[5]},)"
                    R"({"data":[0],"name":"y","datatype":"INT8","shape":[1]}]})");
  EXPECT_EQ(*request.inputs[0].tensor.as<int8_t>(), 5);
  EXPECT_EQ(*request.inputs[1].tensor.as<int8_t>(), 0);
}

TEST(ParseIndex, ReadsReady) {
  EXPECT_FALSE(ParseIndex(""));
  EXPECT_FALSE(ParseIndex("{}"));
  EXPECT_FALSE(ParseIndex(R"({"ready":false})"));
  EXPECT_TRUE(ParseIndex(R"( {"ready":true} )"));
  EXPECT_TELLS(ParseIndex(R"({"ready":1})"), "'ready' must be true or false; got a number");
  EXPECT_TELLS(ParseIndex("[]"), "the body must be an object; got a array");
  EXPECT_TELLS(ParseIndex("{"), "the body is no JSON");
}

TEST(CheckLoad, RefusesOtherModelsThanTheRepositorys) {
  CheckLoad("");
  CheckLoad("{}");
  CheckLoad(R"({"parameters":{"unload_dependents":false}})");
  EXPECT_TELLS(CheckLoad(R"({"parameters":{"config":"{}"}})"), "got the parameter 'config'");
  EXPECT_TELLS(CheckLoad(R"({"parameters":{"file:1/model.onnx":"AA=="}})"),
               "got the parameter 'file:1/model.onnx'");
  EXPECT_TELLS(CheckLoad("7"), "the body must be an object");
  EXPECT_TELLS(CheckLoad("\n"), "the body is no JSON");  // a body that is there
}

}  // namespace
}  // namespace mete::serve
