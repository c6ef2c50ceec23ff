#include <algorithm>

#include "base/json.h"
#include "base/visit_type.h"
#include "serve/grpc_values/grpc_values.h"
#include "serve/protocol/binary_tensor.h"

namespace mete::serve {
namespace {

using Json = nlohmann::ordered_json;
using inference::InferTensorContents;
using inference::ModelInferResponse;

bool NeedsRaw(const NamedTensor& output) {
  return output.binary || output.tensor.type() == DType::kF16 || output.tensor.type() == DType::kBF16;
}

template <class T>
auto* FieldOf(InferTensorContents& contents) {
  if constexpr (std::is_same_v<T, bool>) return contents.mutable_bool_contents();
  else if constexpr (std::is_same_v<T, float>) return contents.mutable_fp32_contents();
  else if constexpr (std::is_same_v<T, double>) return contents.mutable_fp64_contents();
  else if constexpr (std::is_same_v<T, int64_t>) return contents.mutable_int64_contents();
  else if constexpr (std::is_same_v<T, uint64_t>) return contents.mutable_uint64_contents();
  else if constexpr (std::signed_integral<T>) return contents.mutable_int_contents();
  else return contents.mutable_uint_contents();
}

void FillContents(const NamedTensor& output, InferTensorContents& contents) {
  if (output.is_bytes()) {
    contents.mutable_bytes_contents()->Assign(output.texts.begin(), output.texts.end());
    return;
  }
  VisitAny(output.tensor.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, F16> && !std::is_same_v<T, BF16>) {
      const T* elements = output.tensor.as<T>();
      FieldOf<T>(contents)->Assign(elements, elements + output.tensor.elements());
    }
  });
}

template <class ToMap>
void FillParameters(const Parameters& parameters, ToMap& to) {
  for (const auto& [name, value] : parameters) {
    inference::InferParameter& p = to[Utf8(name)];
    if (const auto* b = std::get_if<bool>(&value)) p.set_bool_param(*b);
    if (const auto* i = std::get_if<int64_t>(&value)) p.set_int64_param(*i);
    if (const auto* d = std::get_if<double>(&value)) p.set_double_param(*d);
    if (const auto* s = std::get_if<std::string>(&value)) p.set_string_param(Utf8(*s));
  }
}

void Fill(const Duration& d, inference::StatisticDuration& to) {
  to.set_count(uint64_t(d.count));
  to.set_ns(uint64_t(d.ns));
}

void Fill(const TensorMetadata& tensor, inference::ModelMetadataResponse::TensorMetadata& to) {
  to.set_name(Utf8(tensor.name));
  to.set_datatype(tensor.datatype);
  to.mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
}

void Fill(const ModelStatistics& m, inference::ModelStatistics& to) {
  to.set_name(Utf8(m.name));
  to.set_version(Utf8(m.version));
  to.set_last_inference(uint64_t(m.last_inference_ms));
  to.set_inference_count(uint64_t(m.inferences));
  to.set_execution_count(uint64_t(m.executions));
  inference::InferStatistics& sums = *to.mutable_inference_stats();
  Fill(m.success, *sums.mutable_success());
  Fill(m.fail, *sums.mutable_fail());
  Fill(m.queue, *sums.mutable_queue());
  Fill(m.input, *sums.mutable_compute_input());
  Fill(m.compute, *sums.mutable_compute_infer());
  Fill(m.output, *sums.mutable_compute_output());
  Fill({}, *sums.mutable_cache_hit());
  Fill({}, *sums.mutable_cache_miss());
  for (const auto& [size, batch] : m.batches) {
    inference::InferBatchStatistics& one = *to.add_batch_stats();
    one.set_batch_size(uint64_t(size));
    Fill(batch.input, *one.mutable_compute_input());
    Fill(batch.compute, *one.mutable_compute_infer());
    Fill(batch.output, *one.mutable_compute_output());
  }
}

}  // namespace

std::string Utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  return Json::parse(JsonText(Json(text), -1)).get<std::string>();
}

ModelInferResponse MessageOf(const InferAnswer& answer) {
  ModelInferResponse message;
  message.set_model_name(Utf8(answer.model));
  message.set_model_version(Utf8(answer.version));
  message.set_id(Utf8(answer.id));
  FillParameters(answer.parameters, *message.mutable_parameters());
  const bool raw = std::any_of(answer.outputs.begin(), answer.outputs.end(), NeedsRaw);
  for (const NamedTensor& output : answer.outputs) {
    ModelInferResponse::InferOutputTensor& to = *message.add_outputs();
    to.set_name(Utf8(output.name));
    to.set_datatype(output.datatype());
    to.mutable_shape()->Assign(output.shape.begin(), output.shape.end());
    if (raw) AppendBytes(output, *message.add_raw_output_contents());
    else FillContents(output, *to.mutable_contents());
  }
  return message;
}

inference::ServerMetadataResponse MessageOf(const ServerMetadata& server) {
  inference::ServerMetadataResponse message;
  message.set_name(Utf8(server.name));
  message.set_version(Utf8(server.version));
  for (const std::string& extension : server.extensions) message.add_extensions(Utf8(extension));
  return message;
}

inference::ModelMetadataResponse MessageOf(const ModelMetadata& model) {
  inference::ModelMetadataResponse message;
  message.set_name(Utf8(model.name));
  message.set_platform(Utf8(model.platform));
  for (const std::string& version : model.versions) message.add_versions(Utf8(version));
  for (const TensorMetadata& input : model.inputs) Fill(input, *message.add_inputs());
  for (const TensorMetadata& output : model.outputs) Fill(output, *message.add_outputs());
  return message;
}

inference::RepositoryIndexResponse MessageOf(const std::vector<IndexEntry>& models) {
  inference::RepositoryIndexResponse message;
  for (const IndexEntry& m : models) {
    auto& to = *message.add_models();
    to.set_name(Utf8(m.name));
    to.set_version(Utf8(m.version));
    to.set_state(m.state);
    to.set_reason(Utf8(m.reason));
  }
  return message;
}

inference::ModelStatisticsResponse MessageOf(const std::vector<ModelStatistics>& models) {
  inference::ModelStatisticsResponse message;
  for (const ModelStatistics& m : models) Fill(m, *message.add_model_stats());
  return message;
}

}  // namespace mete::serve
