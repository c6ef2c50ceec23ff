// How long the body of a request takes to become a request: a picture of 3x224x224 floats as JSON and in
// bytes, beside what the JSON library takes for the same text, as a tree of values and event by event.
#include <benchmark/benchmark.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "serve/protocol/rest_answer.h"
#include "serve/protocol/rest_request.h"

namespace {

using Json = nlohmann::ordered_json;
using namespace mete;
using namespace mete::serve;

constexpr int64_t kElements = 3 * 224 * 224;

std::vector<float> Picture() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-2.2f, 2.7f);
  std::vector<float> picture(kElements);
  for (float& v : picture) v = value(random);
  return picture;
}

std::string Head(const std::string& rest) {
  return R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,3,224,224],)" + rest + "}]}";
}

// `long_numbers`: 17 digits, as Python writes floats that became doubles; otherwise the shortest text.
std::string JsonBody(bool long_numbers) {
  std::string list;
  for (const float v : Picture()) {
    char text[32];
    const auto end = long_numbers ? std::to_chars(text, text + sizeof(text), double(v)).ptr
                                  : std::to_chars(text, text + sizeof(text), v).ptr;
    list.append(list.empty() ? "" : ",").append(text, end);
  }
  return Head("\"data\":[" + list + "]");
}

void Count(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(int64_t(bytes) * state.iterations());
}

std::span<const std::byte> Bytes(const std::string& body) { return std::as_bytes(std::span(body)); }

void Json_Mete(benchmark::State& state) {
  const std::string body = JsonBody(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(ParseInfer(Bytes(body), {}, {}, nullptr));
  Count(state, body.size());
}
BENCHMARK(Json_Mete)->ArgName("long")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The lists are read event by event, in one type that is known before: the least that the library takes.
struct Floats : nlohmann::json_sax<Json> {
  std::vector<float> values;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t v) override { return Add(float(v)); }
  bool number_unsigned(number_unsigned_t v) override { return Add(float(v)); }
  bool number_float(number_float_t v, const string_t&) override { return Add(float(v)); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }
  bool Add(float v) {
    values.push_back(v);
    return true;
  }
};

void Json_Events(benchmark::State& state) {
  const std::string body = JsonBody(state.range(0) != 0);
  for (auto _ : state) {
    Floats floats;
    floats.values.reserve(kElements + 4);
    benchmark::DoNotOptimize(Json::sax_parse(body, &floats));
  }
  Count(state, body.size());
}
BENCHMARK(Json_Events)->ArgName("long")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void Json_Tree(benchmark::State& state) {
  const std::string body = JsonBody(state.range(0) != 0);
  for (auto _ : state) {
    const Json j = Json::parse(body);
    benchmark::DoNotOptimize(j["inputs"][0]["data"].get<std::vector<float>>());
  }
  Count(state, body.size());
}
BENCHMARK(Json_Tree)->ArgName("long")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// `apart`: bytes between the JSON and a place that is aligned to 64, where the elements are used as they lie.
void Binary_Mete(benchmark::State& state) {
  const std::vector<float> picture = Picture();
  std::string head = Head(R"("parameters":{"binary_data_size":602112})");
  head.append(63 - (head.size() + 63) % 64, ' ').append(size_t(state.range(0)), ' ');
  const auto memory = std::make_shared<std::vector<std::byte>>(head.size() + kElements * sizeof(float) + 64);
  std::byte* body = memory->data() + (64 - reinterpret_cast<uintptr_t>(memory->data()) % 64) % 64;
  std::memcpy(body, head.data(), head.size());
  std::memcpy(body + head.size(), picture.data(), kElements * sizeof(float));
  const std::span<const std::byte> bytes(body, head.size() + kElements * sizeof(float));
  for (auto _ : state) benchmark::DoNotOptimize(ParseInfer(bytes, head.size(), {}, memory));
  Count(state, bytes.size());
}
BENCHMARK(Binary_Mete)->ArgName("apart")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// The answer of a classifier: 1000 scores.
void Answer_Mete(benchmark::State& state) {
  const std::vector<float> picture = Picture();
  InferAnswer answer;
  answer.model = "squeezenet";
  NamedTensor& scores = answer.outputs.emplace_back();
  scores.name = "scores";
  scores.tensor = Tensor::Floats({1, 1000}, std::span(picture).first(1000));
  scores.shape = scores.tensor.shape();
  scores.binary = state.range(0) != 0;
  for (auto _ : state) benchmark::DoNotOptimize(AnswerBody(answer));
}
BENCHMARK(Answer_Mete)->ArgName("binary")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
