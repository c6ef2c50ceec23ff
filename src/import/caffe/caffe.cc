#include "import/caffe/caffe.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "import/caffe/builder.h"
#include "import/caffe/parse.h"

namespace mete {
namespace caffe_import {
namespace {

enum class Role { kCompute, kInput, kData, kSkip };

// Returns what the front end does with a layer type. Losses and measures have no meaning without labels. Data
// layers read files that do not belong to the model.
Role RoleOf(const std::string& type) {
  if (type == "Input") return Role::kInput;
  if (type == "Accuracy" || type == "DetectionEvaluate" || type == "Silence" || type == "HDF5Output" ||
      type.ends_with("Loss"))
    return Role::kSkip;
  if (type == "Python" || type.ends_with("Data")) return Role::kData;
  return Role::kCompute;
}

const LayerType* FindType(const std::string& type) {
  for (auto family : {WeightLayers(), NormalizeLayers(), ElementwiseLayers(), ShapeLayers(),
                      RearrangeLayers(), ResizeLayers(), DetectionLayers(), RecurrentLayers()})
    for (const LayerType& t : family)
      if (type == t.type) return &t;
  return nullptr;
}

Shape ShapeOf(const caffe::BlobShape& shape) {
  return Shape(std::span<const int64_t>(shape.dim().data(), size_t(shape.dim_size())));
}

void AddHeaderInputs(Builder& b, const caffe::NetParameter& net) {
  for (int i = 0; i < net.input_size(); ++i) {
    if (i < net.input_shape_size()) b.AddInput(net.input(i), ShapeOf(net.input_shape(i)));
    else if (net.input_dim_size() >= 4 * (i + 1))
      b.AddInput(net.input(i), Shape{net.input_dim(4 * i), net.input_dim(4 * i + 1), net.input_dim(4 * i + 2),
                                     net.input_dim(4 * i + 3)});
    else b.AddInput(net.input(i), Shape::Unknown());  // throws unless the caller gives the shape
  }
}

void AddInputLayer(Builder& b, const caffe::LayerParameter& p) {
  const auto& shapes = p.input_param().shape();
  for (int i = 0; i < p.top_size(); ++i) {
    if (shapes.empty()) b.AddInput(p.top(i), Shape::Unknown());
    else if (shapes.size() == 1 || i < shapes.size())
      b.AddInput(p.top(i), ShapeOf(shapes.size() == 1 ? shapes.Get(0) : shapes.Get(i)));
    else Invalid(p.name(), "the layer has too few shapes; got {} for {} tops", shapes.size(), p.top_size());
  }
}

void AddDataLayer(Builder& b, const caffe::LayerParameter& p) {
  if (p.top_size() == 0 || !b.HasShapeFor(p.top(0)))
    Fail(Code::kUnimplemented, p.name(),
         "a layer of type {} reads a data set; try the deploy.prototxt, or give the shape of input '{}'",
         p.type(), p.top_size() ? p.top(0) : "");
  b.AddInput(p.top(0), Shape::Unknown());
  b.Note(fmt::format("layer '{}' of type {} is read as input '{}'", p.name(), p.type(), p.top(0)));
}

void CheckCounts(const LayerType& type, const caffe::LayerParameter& p) {
  if (p.bottom_size() < type.min_bottoms || (type.max_bottoms >= 0 && p.bottom_size() > type.max_bottoms))
    Invalid(p.name(), "{} has the wrong number of bottoms; got {}, expected {}", p.type(), p.bottom_size(),
            type.min_bottoms == type.max_bottoms ? fmt::format("{}", type.min_bottoms)
            : type.max_bottoms < 0               ? fmt::format("at least {}", type.min_bottoms)
                                   : fmt::format("{} to {}", type.min_bottoms, type.max_bottoms));
  if (p.top_size() < 1 || (type.max_tops >= 0 && p.top_size() > type.max_tops))
    Invalid(p.name(), "{} has the wrong number of tops; got {}, expected {}", p.type(), p.top_size(),
            type.max_tops == 1  ? "1"
            : type.max_tops < 0 ? "at least 1"
                                : fmt::format("1 to {}", type.max_tops));
}

// Converts a layer that computes. Returns false if the layer's type is unknown, or if a bottom is unknown
// because of a problem that is already reported.
bool ConvertCompute(Builder& b, const caffe::LayerParameter& p) {
  const LayerType* type = FindType(p.type());
  if (!type) {
    b.UnsupportedType(p.type(), p.name());
    return false;
  }
  CheckCounts(*type, p);
  Layer layer(b, p);
  for (int i = 0; i < layer.bottoms(); ++i)
    if (layer.in(i) == kNoValue) return false;
  for (int i = 0; i < layer.bottoms(); ++i)
    if (!layer.shape(i).known())
      Fail(Code::kUnimplemented, p.name(),
           "the shape of bottom '{}' depends on data, so that no layer can read it; try the net without this "
           "layer",
           p.bottom(i));
  type->convert(layer);
  return true;
}

void Skip(Builder& b, const caffe::LayerParameter& p) {
  b.Note(fmt::format("layer '{}' of type {} is left out", p.name(), p.type()));
  if (p.type() == "Silence")
    for (const std::string& bottom : p.bottom()) b.Consume(bottom);
}

void Convert(Builder& b, const caffe::LayerParameter& p) {
  bool made = false;
  try {
    const Role role = RoleOf(p.type());
    if (role == Role::kSkip) return Skip(b, p);
    if (role == Role::kInput) return AddInputLayer(b, p);
    if (role == Role::kData) return AddDataLayer(b, p);
    made = ConvertCompute(b, p);
  } catch (const Error& e) {
    b.Problem(e);
  }
  if (made) return;
  for (const std::string& top : p.top()) b.Write(p.name(), top, kNoValue);
}

size_t InputsOf(const Net& net) {
  size_t inputs = size_t(net.header.input_size());
  for (const caffe::LayerParameter& layer : net.layers) {
    if (RoleOf(layer.type()) == Role::kInput) inputs += size_t(layer.top_size());
    if (RoleOf(layer.type()) == Role::kData && layer.top_size() > 0) ++inputs;
  }
  return inputs;
}

Imported Import(std::string_view prototxt, Weights weights, const std::string& name,
                const ImportOptions& options) {
  Net net = ParseNet(prototxt, name);
  Builder builder(name, options, std::move(weights), InputsOf(net));
  builder.graph().name = net.header.name().empty() ? name : net.header.name();
  try {
    AddHeaderInputs(builder, net.header);
  } catch (const Error& e) {
    builder.Problem(e);
  }
  for (auto& layer : net.layers) {
    if (layer.name().empty()) layer.set_name(layer.top_size() ? layer.top(0) : layer.type());
    Convert(builder, layer);
  }
  return builder.Finish();
}

}  // namespace
}  // namespace caffe_import

Imported ImportCaffe(std::string_view prototxt, std::span<const std::byte> weights, const std::string& name,
                     const ImportOptions& options) {
  return caffe_import::Import(prototxt, caffe_import::ParseWeights(weights, name), name, options);
}

Imported ImportCaffe(const std::string& prototxt_path, const std::string& caffemodel_path,
                     const ImportOptions& options) {
  const auto text = MappedFile::Open(prototxt_path);
  const std::string_view prototxt(reinterpret_cast<const char*>(text->bytes().data()), text->bytes().size());
  caffe_import::ParseNet(prototxt, prototxt_path);  // an error in the net is reported before missing weights
  if (std::error_code ignored; !std::filesystem::exists(caffemodel_path, ignored))
    Fail(Code::kNotFound, caffemodel_path,
         "the weights of {} are not there; expected a .caffemodel; try --weights FILE, in C++ "
         "LoadOptions::weights",
         prototxt_path);
  const auto weights = MappedFile::Open(caffemodel_path);
  if (weights->bytes().empty())
    Fail(Code::kDataLoss, caffemodel_path, "the file is empty; expected a .caffemodel");
  return caffe_import::Import(prototxt, caffe_import::ParseWeights(weights->bytes(), caffemodel_path),
                              prototxt_path, options);
}

}  // namespace mete
