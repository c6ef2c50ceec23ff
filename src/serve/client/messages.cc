#include "serve/client/messages.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "serve/protocol/binary_tensor.h"
#include "serve/protocol/data_lists.h"
#include "serve/protocol/json_elements.h"
#include "serve/protocol/request_bounds.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) escaped += c;
    else escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

// Takes outputs apart, one after the other: those behind the JSON lie there in the same order.
class AnswerReader {
 public:
  AnswerReader(std::shared_ptr<const std::string> body, size_t json_bytes, int64_t most_bytes)
      : body_(std::move(body)), behind_(*body_), bounds_{.input_bytes = most_bytes}, memory_(bounds_) {
    behind_.remove_prefix(json_bytes);
    lists_ = CutDataLists(std::string_view(*body_).substr(0, json_bytes), bounds_);
  }

  InferAnswer Do() {
    const Json json = ParseJson(lists_.text, "answer");
    Object(json, "answer", "the body");
    InferAnswer answer;
    answer.model = json.value("model_name", "");
    answer.version = json.value("model_version", "");
    answer.id = json.value("id", "");
    for (const Json& output : List(json.at("outputs"), "answer", "outputs"))
      answer.outputs.push_back(Output(Object(output, "answer", "an output")));
    if (!behind_.empty()) Invalid("answer", "has {} bytes behind its last output", behind_.size());
    return answer;
  }

 private:
  NamedTensor Output(const Json& json) {
    const auto name = json.at("name").get<std::string>();
    const std::string where = names_.Add("output", name);
    std::vector<int64_t> dims;
    for (const Json& dim : List(json.at("shape"), where, "shape"))
      dims.push_back(WholeNumber(dim, where, "a dimension", 0));
    const InputForm form = memory_.Take(where, json.at("datatype").get<std::string>(), dims);
    NamedTensor tensor = Elements(json, where, form);
    tensor.name = name;
    return tensor;
  }

  NamedTensor Elements(const Json& json, const std::string& where, const InputForm& form) {
    const auto parameters = json.find("parameters");
    if (parameters != json.end() && parameters->is_object() && parameters->contains("binary_data_size")) {
      const auto bytes = size_t(WholeNumber(parameters->at("binary_data_size"), where, "binary_data_size", 0,
                                            int64_t(behind_.size())));
      const auto taken = std::as_bytes(std::span(behind_.data(), bytes));
      behind_.remove_prefix(bytes);
      return TensorOfBytes(where, form, taken, body_);
    }
    const Json& data = List(json.at("data"), where, "data");
    if (data.size() != 1) Invalid(where, "has no list of elements");
    const int64_t list =
        WholeNumber(data[0], where, "the number of a list", 0, int64_t(lists_.lists.size()) - 1);
    return TensorOfList(where, form, lists_.lists[size_t(list)]);
  }

  const std::shared_ptr<const std::string> body_;
  std::string_view behind_;
  const RequestBounds bounds_;
  InputMemory memory_;
  TensorNames names_;
  CutJson lists_;
};

}  // namespace

std::string InferTarget(const std::string& model) {
  return fmt::format("/v2/models/{}/infer", Escaped(model));
}

std::string ClassifyTarget(const std::string& model, int classes) {
  return fmt::format("/v2/models/{}/classify{}", Escaped(model),
                     classes > 0 ? fmt::format("?classes={}", classes) : "");
}

InferBody BodyOf(const InferRequest& request) {
  Json inputs = Json::array();
  size_t bytes = 0;
  for (const NamedTensor& input : request.inputs) {
    inputs.push_back({{"name", input.name},
                      {"datatype", input.datatype()},
                      {"shape", std::vector<int64_t>(input.shape.begin(), input.shape.end())},
                      {"parameters", {{"binary_data_size", ByteCount(input)}}}});
    bytes += ByteCount(input);
  }
  const Json json{{"inputs", inputs}, {"parameters", {{"binary_data_output", true}}}};
  InferBody body{JsonText(json, -1), 0};
  body.json_bytes = body.bytes.size();
  body.bytes.reserve(body.json_bytes + bytes);
  for (const NamedTensor& input : request.inputs) AppendBytes(input, body.bytes);
  return body;
}

InferAnswer ParseAnswer(std::shared_ptr<const std::string> body, std::optional<size_t> json_bytes,
                        int64_t most_bytes) {
  const size_t all = body->size();
  if (json_bytes && *json_bytes > all)
    Invalid("answer", "its JSON is longer than its body; got {} bytes, expected {} at most", *json_bytes,
            all);
  try {
    return AnswerReader(std::move(body), json_bytes.value_or(all), most_bytes).Do();
  } catch (const Json::exception& e) {
    Invalid("answer", "is no answer of a model; {}", Printable(ReasonOf(e)));
  }
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<ServerSteps> StepsOf(std::string_view text) {
  const auto step = [text](std::string_view name) {
    const std::string key = std::string(name) + ";dur=";
    const size_t at = text.find(key);
    if (at == text.npos) return std::optional<double>();
    const std::string_view rest = text.substr(at + key.size());
    return NumberOf(rest.substr(0, rest.find_first_of(",; ")));
  };
  const auto queue = step("queue"), decode = step("decode"), scale = step("scale"), compute = step("compute");
  if (!queue || !decode || !scale || !compute) return std::nullopt;
  return ServerSteps{*queue, *decode, *scale, *compute};
}

Code CodeOfStatus(int status) {
  switch (status) {
    case 200: return Code::kOk;
    case 400: return Code::kInvalidArgument;
    case 401:
    case 403: return Code::kFailedPrecondition;
    case 404: return Code::kNotFound;
    case 413:
    case 429: return Code::kResourceExhausted;
    case 503: return Code::kUnavailable;
    case 504: return Code::kDeadlineExceeded;
    default: return Code::kInternal;
  }
}

std::string ErrorTextOf(const std::string& body) {
  constexpr size_t kMostShown = 500;  // guess: of a text for people
  std::string text = body;
  try {
    if (const Json json = ParseJson(body, "answer"); json.is_object()) text = json.value("error", body);
  } catch (const std::exception&) {  // then the text is all that there is
  }
  return Printable(text.substr(0, kMostShown));
}

}  // namespace mete::serve
