// Requests for tests: random ones, and their bodies over REST.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/visit_type.h"
#include "serve/protocol/binary_tensor.h"
#include "serve/protocol/json_elements.h"
#include "serve/protocol/rest_request.h"

namespace mete::serve {

inline constexpr DType kAllTypes[] = {DType::kBool, DType::kU8,  DType::kU16, DType::kU32, DType::kU64,
                                      DType::kI8,   DType::kI16, DType::kI32, DType::kI64, DType::kF16,
                                      DType::kBF16, DType::kF32, DType::kF64};

using Random = std::mt19937_64;

inline int Below(Random& random, int end) { return std::uniform_int_distribution(0, end - 1)(random); }

inline std::string RandomText(Random& random) {
  static const std::vector<std::string> kParts = {"a",  "data", "\"", "\\", "[", "]", "{",  ":",   ",",
                                                  "\n", "é",    "😀",  "0",  " ", "/", "\t", "\x7f"};
  std::string text;
  for (int i = Below(random, 6); i > 0; --i) text += kParts[size_t(Below(random, int(kParts.size())))];
  return text;
}

// Any bits, but of all NaN the one that the text "NaN" means.
inline Tensor RandomTensor(DType type, const Shape& shape, Random& random) {
  Tensor tensor(type, shape);
  VisitAny(type, [&]<class T>() {
    T* out = tensor.mutable_view().as<T>();
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const uint64_t bits = random();
      if constexpr (std::is_same_v<T, bool>) {
        out[i] = bits % 2 != 0;
      } else {
        std::memcpy(static_cast<void*>(&out[i]), &bits, sizeof(T));
        if constexpr (!std::integral<T>)
          if (std::isnan(double(out[i]))) out[i] = T(std::numeric_limits<float>::quiet_NaN());
      }
    }
  });
  return tensor;
}

inline NamedTensor RandomInput(const std::string& name, Random& random) {
  NamedTensor input;
  input.name = name;
  for (int rank = Below(random, 5); rank > 0; --rank)
    input.shape.push_back(Below(random, 8) == 0 ? 0 : 1 + Below(random, 3));
  const int type = Below(random, int(std::size(kAllTypes)) + 1);
  if (type < int(std::size(kAllTypes))) {
    input.tensor = RandomTensor(kAllTypes[type], input.shape, random);
  } else {
    for (int64_t i = 0; i < input.shape.Elements(); ++i) input.texts.push_back(RandomText(random));
  }
  return input;
}

inline InferRequest RandomRequest(Random& random) {
  InferRequest request;
  request.id = RandomText(random);
  request.binary_outputs = Below(random, 2) != 0;
  if (Below(random, 2)) request.parameters["t" + RandomText(random)] = RandomText(random);
  if (Below(random, 2)) request.parameters["i"] = int64_t(random());
  if (Below(random, 2)) request.parameters["b"] = Below(random, 2) != 0;
  if (Below(random, 2)) request.parameters["d"] = std::ldexp(double(random() | 1), Below(random, 200) - 300);
  for (int i = Below(random, 4); i > 0; --i)
    request.inputs.push_back(RandomInput(std::to_string(i) + RandomText(random), random));
  for (int i = Below(random, 3); i > 0; --i)
    request.outputs.push_back(
        {std::to_string(i) + RandomText(random), Below(random, 2) != 0, Below(random, 3)});
  return request;
}

inline void ExpectSame(const NamedTensor& a, const NamedTensor& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_STREQ(a.datatype(), b.datatype());
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.texts, b.texts);
  if (a.is_bytes() || b.is_bytes()) return;
  EXPECT_EQ(b.tensor.shape(), b.shape);
  ASSERT_EQ(a.tensor.bytes(), b.tensor.bytes());
  EXPECT_TRUE(a.tensor.bytes() == 0 || std::memcmp(a.tensor.data(), b.tensor.data(), a.tensor.bytes()) == 0)
      << a.name << " " << a.datatype();
}

inline void ExpectSame(const InferRequest& a, const InferRequest& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.binary_outputs, b.binary_outputs);
  ASSERT_EQ(a.inputs.size(), b.inputs.size());
  for (size_t i = 0; i < a.inputs.size(); ++i) ExpectSame(a.inputs[i], b.inputs[i]);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].name, b.outputs[i].name);
    EXPECT_EQ(a.outputs[i].binary, b.outputs[i].binary);
    EXPECT_EQ(a.outputs[i].classes, b.outputs[i].classes);
  }
}

enum class Form { kFlat, kNested, kBytes };  // of the elements of inputs

struct RestBody {
  std::string body;
  std::optional<size_t> json_bytes;
};

// Returns the elements of a flat list as lists within each other.
inline nlohmann::ordered_json Nested(const nlohmann::ordered_json& flat, const Shape& shape, int dim,
                                     size_t& at) {
  if (dim == shape.rank()) return flat[at++];
  auto list = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < shape[dim]; ++i) list.push_back(Nested(flat, shape, dim + 1, at));
  return list;
}

inline std::string ElementsText(const NamedTensor& input, Form form) {
  std::string flat;
  AppendList(input, flat);
  if (form == Form::kFlat || input.shape.rank() == 0) return flat;
  // Numbers as texts, so that this does not round them.
  size_t at = 0;
  if (input.is_bytes()) return Nested(nlohmann::ordered_json::parse(flat), input.shape, 0, at).dump(1);
  auto texts = nlohmann::ordered_json::array();
  std::string item;
  for (const char c : flat.substr(1))
    if (c == ',' || c == ']') {
      if (!item.empty()) texts.push_back("<" + item + ">");
      item.clear();
    } else item += c;
  std::string nested = Nested(texts, input.shape, 0, at).dump(1), text;
  for (const std::string mark : {"\"<", ">\"", "\\"})
    for (size_t found; (found = nested.find(mark)) != nested.npos;) nested.erase(found, mark.size());
  return nested;
}

// The keys of the inputs begin with another one in each input, because a reader may get any first.
inline RestBody BodyOf(const InferRequest& request, Form form) {
  using Json = nlohmann::ordered_json;
  std::string inputs, bytes;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const NamedTensor& input = request.inputs[i];
    const auto dims = input.shape.dims();
    std::vector<std::string> keys = {
        "\"name\":" + Json(input.name).dump(), "\"datatype\" : \"" + std::string(input.datatype()) + '"',
        "\"shape\":" + Json(std::vector<int64_t>(dims.begin(), dims.end())).dump(),
        form == Form::kBytes
            ? "\"parameters\":{\"binary_data_size\":" + std::to_string(ByteCount(input)) + "}"
            : "\"data\" :\n" + ElementsText(input, form)};
    if (form == Form::kBytes) AppendBytes(input, bytes);
    inputs += i == 0 ? "{" : ",{";
    for (size_t k = 0; k < keys.size(); ++k) inputs += (k ? "," : "") + keys[(k + i) % keys.size()];
    inputs += "}";
  }
  Json parameters = {{"binary_data_output", request.binary_outputs}};
  for (const auto& [name, value] : request.parameters)
    std::visit([&, &name = name](const auto& v) { parameters[name] = v; }, value);
  Json outputs = Json::array();
  for (const RequestedOutput& output : request.outputs) {
    Json j = {{"name", output.name}, {"parameters", {{"binary_data", output.binary}}}};
    if (output.classes) j["parameters"]["classification"] = output.classes;
    outputs.push_back(j);
  }
  const std::string json = "{\"id\":" + Json(request.id).dump() + ",\"inputs\":[" + inputs +
                           "],\"outputs\":" + outputs.dump() + ",\"parameters\":" + parameters.dump() + "}";
  if (form == Form::kBytes) return {json + bytes, json.size()};
  return {json, std::nullopt};
}

inline InferRequest Parse(const RestBody& rest, const RequestBounds& bounds = {}) {
  const auto body = std::make_shared<std::string>(rest.body);
  return ParseInfer(std::as_bytes(std::span(*body)), rest.json_bytes, bounds, body);
}

}  // namespace mete::serve
