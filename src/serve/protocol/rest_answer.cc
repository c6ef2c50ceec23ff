#include "serve/protocol/rest_answer.h"

#include "base/json.h"
#include "serve/protocol/binary_tensor.h"
#include "serve/protocol/json_elements.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string BodyOf(const Json& j) { return JsonText(j, /*indent=*/-1); }

Json JsonOf(const Parameters& parameters) {
  Json j = Json::object();
  for (const auto& [name, value] : parameters)
    std::visit([&, &name = name](const auto& v) { j[name] = v; }, value);
  return j;
}

// Appends the output as an object of JSON. The elements are most of it, and are written as text at once.
void AppendOutput(const NamedTensor& output, std::string& json) {
  Json j = {{"name", output.name}, {"datatype", output.datatype()}, {"shape", output.shape.dims()}};
  if (output.binary) j["parameters"] = {{"binary_data_size", ByteCount(output)}};
  json += BodyOf(j);
  if (output.binary) return;
  json.back() = ',';  // instead of the object's end
  json += R"("data":)";
  AppendList(output, json);
  json += '}';
}

Json JsonOf(const Duration& d) { return {{"count", d.count}, {"ns", d.ns}}; }

Json JsonOf(const std::vector<TensorMetadata>& tensors) {
  Json list = Json::array();
  for (const TensorMetadata& t : tensors)
    list.push_back({{"name", t.name}, {"datatype", t.datatype}, {"shape", t.shape}});
  return list;
}

Json JsonOf(const ModelStatistics& m) {
  Json batches = Json::array();
  for (const auto& [size, batch] : m.batches)
    batches.push_back({{"batch_size", size},
                       {"compute_input", JsonOf(batch.input)},
                       {"compute_infer", JsonOf(batch.compute)},
                       {"compute_output", JsonOf(batch.output)}});
  return {{"name", m.name},
          {"version", m.version},
          {"last_inference", m.last_inference_ms},
          {"inference_count", m.inferences},
          {"execution_count", m.executions},
          {"inference_stats",
           {{"success", JsonOf(m.success)},
            {"fail", JsonOf(m.fail)},
            {"queue", JsonOf(m.queue)},
            {"compute_input", JsonOf(m.input)},
            {"compute_infer", JsonOf(m.compute)},
            {"compute_output", JsonOf(m.output)},
            {"cache_hit", JsonOf(Duration())},
            {"cache_miss", JsonOf(Duration())}}},
          {"batch_stats", batches}};
}

}  // namespace

RestAnswer AnswerBody(const InferAnswer& answer) {
  Json head = {{"model_name", answer.model}, {"model_version", answer.version}};
  if (!answer.id.empty()) head["id"] = answer.id;
  if (!answer.parameters.empty()) head["parameters"] = JsonOf(answer.parameters);
  RestAnswer made;
  std::string& body = made.body;
  body = BodyOf(head);
  body.back() = ',';  // instead of the object's end
  body += R"("outputs":[)";
  bool any_binary = false;
  for (const NamedTensor& output : answer.outputs) {
    if (&output != answer.outputs.data()) body += ',';
    AppendOutput(output, body);
    any_binary |= output.binary;
  }
  body += "]}";
  if (!any_binary) return made;
  made.json_bytes = body.size();
  size_t bytes = 0;
  for (const NamedTensor& output : answer.outputs) bytes += output.binary ? ByteCount(output) : 0;
  body.reserve(body.size() + bytes);
  for (const NamedTensor& output : answer.outputs)
    if (output.binary) AppendBytes(output, body);
  return made;
}

std::string ErrorBody(std::string_view error) { return BodyOf({{"error", error}}); }

std::string HealthBody(const Health& health, std::string_view model) {
  Json j = Json::object();
  if (!model.empty()) j["name"] = model;
  j["live"] = health.live;
  j["ready"] = health.ready;
  return BodyOf(j);
}

std::string ServerBody(const ServerMetadata& server) {
  return BodyOf({{"name", server.name}, {"version", server.version}, {"extensions", server.extensions}});
}

std::string ModelBody(const ModelMetadata& model) {
  return BodyOf({{"name", model.name},
                 {"versions", model.versions},
                 {"platform", model.platform},
                 {"inputs", JsonOf(model.inputs)},
                 {"outputs", JsonOf(model.outputs)}});
}

std::string IndexBody(const std::vector<IndexEntry>& models) {
  Json list = Json::array();
  for (const IndexEntry& m : models)
    list.push_back({{"name", m.name}, {"version", m.version}, {"state", m.state}, {"reason", m.reason}});
  return BodyOf(list);
}

std::string StatisticsBody(const std::vector<ModelStatistics>& models) {
  Json list = Json::array();
  for (const ModelStatistics& m : models) list.push_back(JsonOf(m));
  return BodyOf({{"model_stats", list}});
}

}  // namespace mete::serve
