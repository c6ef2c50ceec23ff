#include "serve/server/batch.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "base/error.h"

namespace mete::serve {

uint64_t BatchKeyOf(const InferJob& job) {
  const ServedModel& model = *job.loaded->model;
  if (!model.has_open_batch() || job.loaded->times.most_in_batch < 2) return 0;
  std::string text;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const Shape& shape = job.pictures.empty() ? job.inputs[i].shape() : model.inputs()[i].shape;
    text += fmt::format("{};", int(model.inputs()[i].type));
    for (int d = 1; d < shape.rank(); ++d) text += fmt::format("{},", shape[d]);
  }
  return std::hash<std::string>()(text) | 1;
}

int64_t RowsOf(const InferJob& job) {
  if (!job.loaded->model->has_open_batch()) return 1;
  if (!job.pictures.empty()) return int64_t(job.pictures.size());
  const int64_t rows = job.inputs[0].shape()[0];
  for (const Tensor& input : job.inputs)
    if (input.shape()[0] != rows) return 0;  // which are no batch
  return rows;
}

std::vector<Tensor> Joined(const Jobs& jobs) {
  std::vector<Tensor> joined;
  for (size_t i = 0; i < jobs[0]->inputs.size(); ++i) {
    Shape shape = jobs[0]->inputs[i].shape();
    shape[0] = 0;
    for (const auto& job : jobs) shape[0] += job->inputs[i].shape()[0];
    for (const auto& job : jobs) {
      const Tensor& other = job->inputs[i];
      if (other.type() != jobs[0]->inputs[i].type() || other.shape().rank() != shape.rank() ||
          other.shape().Elements(1, shape.rank()) != shape.Elements(1, shape.rank()))
        Invalid("server", "requests of one batch have inputs of different shapes");
    }
    Tensor all(jobs[0]->inputs[i].type(), shape);
    std::byte* to = static_cast<std::byte*>(all.mutable_view().data);
    for (const auto& job : jobs) {
      std::memcpy(to, job->inputs[i].data(), job->inputs[i].bytes());
      to += job->inputs[i].bytes();
    }
    joined.push_back(std::move(all));
  }
  return joined;
}

std::vector<Tensor> RowsOf(const std::vector<Tensor>& outputs, int64_t first, int64_t rows) {
  std::vector<Tensor> parts;
  for (const Tensor& output : outputs) {
    Shape shape = output.shape();
    const size_t bytes = output.bytes() / size_t(shape[0]);
    shape[0] = rows;
    const auto owner = std::make_shared<const Tensor>(output);
    parts.emplace_back(output.type(), shape,
                       static_cast<const std::byte*>(output.data()) + size_t(first) * bytes, owner);
  }
  return parts;
}

int64_t RowsOfAll(const Jobs& jobs) {
  int64_t rows = 0;
  for (const auto& job : jobs) rows += job->rows;
  return rows;
}

}  // namespace mete::serve
