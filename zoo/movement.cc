// The layers of GraphBuilder that move elements.
#include "zoo/builder.h"

namespace mete::zoo {

Tensor GraphBuilder::Concat(std::span<const Tensor> parts, int axis) {
  std::vector<std::string> inputs;
  Dims dims = parts[0].dims;
  dims[size_t(axis)] = 0;
  double weighted = 0;
  for (const Tensor& part : parts) {
    inputs.push_back(part.name);
    dims[size_t(axis)] += part.dims[size_t(axis)];
    weighted += double(part.dims[size_t(axis)]) * part.mean_square;
  }
  const Attribute attributes[] = {{"axis", int64_t(axis)}};
  return Node("Concat", inputs, dims, weighted / double(dims[size_t(axis)]), attributes);
}

Tensor GraphBuilder::Reshape(const Tensor& x, const Dims& dims) {
  const std::string inputs[] = {x.name,
                                Constant("shape_" + std::to_string(++nodes_), {int64_t(dims.size())}, dims)};
  return Node("Reshape", inputs, dims, x.mean_square);
}

Tensor GraphBuilder::Transpose(const Tensor& x, const Dims& order) {
  Dims dims;
  for (const int64_t axis : order) dims.push_back(x.dims[size_t(axis)]);
  const std::string inputs[] = {x.name};
  const Attribute attributes[] = {{"perm", order}};
  return Node("Transpose", inputs, dims, x.mean_square, attributes);
}

Tensor GraphBuilder::SpaceToDepth(const Tensor& x, int block) {
  const std::string inputs[] = {x.name};
  const Attribute attributes[] = {{"blocksize", int64_t(block)}};
  return Node("SpaceToDepth", inputs,
              {x.dims[0], x.dims[1] * block * block, x.dims[2] / block, x.dims[3] / block}, x.mean_square,
              attributes);
}

Tensor GraphBuilder::Row(const Tensor& x, int axis, int64_t index) {
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  const std::string inputs[] = {x.name,
                                Constant("index_" + std::to_string(++nodes_), {}, std::span(&index, 1))};
  const Attribute attributes[] = {{"axis", int64_t(axis)}};
  return Node("Gather", inputs, dims, x.mean_square, attributes);
}

Tensor GraphBuilder::Slice(const Tensor& x, int axis, int64_t start, int64_t end, int64_t step) {
  const std::string name = "slice_" + std::to_string(nodes_ + 1);
  Dims dims = x.dims;
  dims[size_t(axis)] = (end - start + step - 1) / step;
  const int64_t along = axis;
  const std::string inputs[] = {x.name, Constant(name + ".starts", {1}, std::span(&start, 1)),
                                Constant(name + ".ends", {1}, std::span(&end, 1)),
                                Constant(name + ".axes", {1}, std::span(&along, 1)),
                                Constant(name + ".steps", {1}, std::span(&step, 1))};
  return Node("Slice", inputs, dims, x.mean_square);
}

Tensor GraphBuilder::Unsqueeze(const Tensor& x, int axis) {
  Dims dims = x.dims;
  dims.insert(dims.begin() + axis, 1);
  const int64_t along = axis;
  const std::string inputs[] = {x.name,
                                Constant("axes_" + std::to_string(++nodes_), {1}, std::span(&along, 1))};
  return Node("Unsqueeze", inputs, dims, x.mean_square);
}

Tensor GraphBuilder::Expand(const Tensor& x, const Dims& dims) {
  const std::string inputs[] = {x.name,
                                Constant("shape_" + std::to_string(++nodes_), {int64_t(dims.size())}, dims)};
  return Node("Expand", inputs, dims, x.mean_square);
}

Tensor GraphBuilder::Enlarge(const Tensor& x, int factor) {
  const float scales[] = {1, 1, float(factor), float(factor)};
  const std::string inputs[] = {x.name, "",
                                Constant("scales_" + std::to_string(++nodes_), {4}, std::span(scales))};
  const Attribute attributes[] = {{"coordinate_transformation_mode", std::string("asymmetric")},
                                  {"cubic_coeff_a", -0.75f},
                                  {"mode", std::string("nearest")},
                                  {"nearest_mode", std::string("floor")}};
  return Node("Resize", inputs, {x.dims[0], x.dims[1], x.dims[2] * factor, x.dims[3] * factor}, x.mean_square,
              attributes);
}

Tensor GraphBuilder::Bilinear(const Tensor& x, int height, int width) {
  const Dims dims{x.dims[0], x.dims[1], height, width};
  const std::string inputs[] = {x.name, "", "", Constant("sizes_" + std::to_string(++nodes_), {4}, dims)};
  const Attribute attributes[] = {{"coordinate_transformation_mode", std::string("pytorch_half_pixel")},
                                  {"cubic_coeff_a", -0.75f},
                                  {"mode", std::string("linear")},
                                  {"nearest_mode", std::string("floor")}};
  return Node("Resize", inputs, dims, x.mean_square, attributes);
}

}  // namespace mete::zoo
