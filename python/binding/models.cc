// Model, its ports, and what its file says.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "arrays.h"
#include "binding.h"
#include "callbacks.h"
#include "dicts.h"
#include "mete/engine.h"

namespace mete::python {

namespace nb = nanobind;

namespace {

using Sizes = std::map<std::string, std::vector<int64_t>>;

LoadOptions OptionsOf(const Sizes& input_shapes, int64_t batch, const std::string& weights, bool optimize,
                      const std::string& precision, double error_bound, nb::handle samples,
                      bool onnxruntime_sums, const std::vector<std::string>& disabled_passes) {
  LoadOptions options;
  for (const auto& [name, sizes] : input_shapes) options.input_shapes[name] = ShapeOf(sizes);
  options.batch = batch;
  options.weights = weights;
  options.optimize = optimize;
  options.precision = precision;
  options.error_bound = error_bound;
  options.onnxruntime_sums = onnxruntime_sums;
  options.disabled_passes = disabled_passes;
  for (nb::handle sample : samples) {
    std::vector<Tensor>& inputs = options.samples.emplace_back();
    for (nb::handle input : sample) inputs.push_back(TensorOf(input, "samples"));
  }
  return options;
}

Model Load(nb::handle path, const Sizes& input_shapes, int64_t batch, nb::handle weights, bool optimize,
           const std::string& precision, double error_bound, nb::handle samples, bool onnxruntime_sums,
           const std::vector<std::string>& disabled_passes) {
  const std::string file = PathOf(path);
  const LoadOptions options = OptionsOf(input_shapes, batch, PathOf(weights), optimize, precision,
                                        error_bound, samples, onnxruntime_sums, disabled_passes);
  nb::gil_scoped_release released;
  return Model::Load(file, options);
}

std::span<const std::byte> BytesOf(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

// The model keeps the bytes object, and uses the weights where they lie.
Model LoadBytes(nb::bytes bytes, const std::string& name, const Sizes& input_shapes, int64_t batch,
                const std::optional<nb::bytes>& weights, nb::handle folder, bool optimize,
                const std::string& precision, double error_bound, nb::handle samples, bool onnxruntime_sums,
                const std::vector<std::string>& disabled_passes) {
  const LoadOptions options = OptionsOf(input_shapes, batch, "", optimize, precision, error_bound, samples,
                                        onnxruntime_sums, disabled_passes);
  MemoryModel model;
  model.bytes = BytesOf(bytes);
  model.name = name;
  model.folder = PathOf(folder);
  if (weights) model.weights = BytesOf(*weights);
  model.owner = OwnerOf(std::move(bytes));
  nb::gil_scoped_release released;
  return Model::LoadMemory(model, options);
}

std::string PortText(const Port& port) {
  return "<Port '" + port.name + "' " + Name(port.type) + " " + ToString(port.shape) + ">";
}

void BindPorts(nb::module_& module) {
  nb::class_<PortScale>(module, "PortScale", "number = scale * (integer - zero_point)")
      .def_ro("scale", &PortScale::scale)
      .def_ro("zero_point", &PortScale::zero_point);
  nb::class_<Port>(module, "Port", "An input or an output of a model.")
      .def_ro("name", &Port::name)
      .def_prop_ro(
          "type", [](const Port& port) { return Name(port.type); },
          "the type of its elements: \"f32\", \"u8\", ...; \"unknown\" if only a run tells it")
      .def_prop_ro(
          "shape", [](const Port& port) { return SizesOf(port.shape); },
          "the sizes for which the model was loaded; None if only a run tells them")
      .def_prop_ro(
          "declared", [](const Port& port) { return SizesOf(port.declared); },
          "of an input: the file's sizes, with None for open dimensions")
      .def_ro("dims", &Port::dims, "the file's names of open dimensions, \"\" for others")
      .def_ro("scale", &Port::scale, "what its integers stand for (TensorFlow Lite), or None")
      .def("__repr__", PortText);
}

nb::dict StatsOf(const Model& model) {
  const ModelStats& stats = model.stats();
  return DictOf({{"nodes", nb::cast(stats.nodes)},
                 {"parameters", nb::cast(stats.parameters)},
                 {"constant_bytes", nb::cast(stats.constant_bytes)},
                 {"flops", nb::cast(stats.flops)},
                 {"operators", nb::cast(stats.operators)}});
}

nb::dict FileOf(const Model& model) {
  const FileInfo& file = model.file();
  const auto text = [](const std::string& bytes) {  // a file's texts may hold any bytes
    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace"));
  };
  nb::dict custom, opsets;
  for (const auto& [domain, version] : file.opsets) opsets[text(domain)] = version;
  for (const auto& [key, value] : file.custom) custom[text(key)] = text(value);
  return DictOf({{"format", nb::cast(file.format)},
                 {"opsets", opsets},
                 {"producer", text(file.producer)},
                 {"producer_version", text(file.producer_version)},
                 {"domain", text(file.domain)},
                 {"version", nb::cast(file.version)},
                 {"description", text(file.description)},
                 {"graph_description", text(file.graph_description)},
                 {"custom", custom}});
}

nb::dict PrecisionOf(const Model& model) {
  const PrecisionReport& report = model.precision();
  return DictOf({{"bound", nb::cast(report.bound)},
                 {"error", nb::cast(report.error)},
                 {"samples", nb::cast(report.samples)},
                 {"made_up", nb::cast(report.made_up)},
                 {"rounded", nb::cast(report.rounded)},
                 {"kept", nb::cast(report.kept)}});
}

}  // namespace

void BindModels(nb::module_& module) {
  BindPorts(module);
  nb::class_<Model>(module, "Model", "An immutable, loaded and optimised model. Several threads may use it.")
      .def_static(
          "load", Load, nb::arg("path"), nb::kw_only(), nb::arg("input_shapes") = Sizes(),
          nb::arg("batch") = 0, nb::arg("weights") = "", nb::arg("optimize") = true,
          nb::arg("precision") = "f32", nb::arg("error_bound") = 0.01, nb::arg("samples") = nb::make_tuple(),
          nb::arg("onnxruntime_sums") = false, nb::arg("disabled_passes") = std::vector<std::string>(),
          "Load an ONNX (.onnx), TensorFlow Lite (.tflite) or Caffe model (.prototxt with .caffemodel).\n\n"
          "input_shapes: sizes of inputs whose dimensions the file leaves open, by the input's or the\n"
          "    dimension's name: {\"ids\": [1, 128]}\n"
          "batch: the first dimension of each input, if it is open\n"
          "weights: Caffe: the .caffemodel, if it has another name than the .prototxt\n"
          "optimize: False: only constant folding\n"
          "precision: \"f32\", \"bf16\", \"f16\", \"w8\", \"w4\", or \"auto\" within `error_bound`, a share "
          "of\n"
          "    the largest output, on `samples`, a list of lists of inputs\n")
      .def_static("load_bytes", LoadBytes, nb::arg("data"), nb::kw_only(), nb::arg("name") = "model",
                  nb::arg("input_shapes") = Sizes(), nb::arg("batch") = 0, nb::arg("weights") = nb::none(),
                  nb::arg("folder") = "", nb::arg("optimize") = true, nb::arg("precision") = "f32",
                  nb::arg("error_bound") = 0.01, nb::arg("samples") = nb::make_tuple(),
                  nb::arg("onnxruntime_sums") = false,
                  nb::arg("disabled_passes") = std::vector<std::string>(),
                  "Load a model from the bytes of its file, which are not copied.\n\n"
                  "name: names the model in messages\n"
                  "weights: Caffe: the bytes of the .caffemodel\n"
                  "folder: ONNX: where files with external data lie\n")
      .def_prop_ro("name", &Model::name)
      .def_prop_ro("inputs", &Model::inputs, "a list of Port")
      .def_prop_ro("outputs", &Model::outputs, "a list of Port")
      .def_prop_ro("notes", &Model::notes, "what load() has assumed")
      .def_prop_ro("stats", StatsOf, "a dict: nodes, parameters, constant_bytes, flops, operators")
      .def_prop_ro(
          "file", FileOf,
          "a dict of what the file says about itself: format, opsets, producer, description, custom, ...")
      .def_prop_ro("precision", PrecisionOf,
                   "a dict of what precision=\"auto\" has chosen: bound, error, samples, rounded, kept")
      .def("text", &Model::Text, "Return a line for each node.")
      .def("dot", &Model::Dot, "Return the graph for Graphviz.")
      .def("__repr__", [](const Model& model) {
        return "<Model '" + model.name() + "', " + std::to_string(model.stats().nodes) + " nodes>";
      });
  module.def("pass_names", PassNames, "Return the names of all optimising passes, for `disabled_passes`.");
}

}  // namespace mete::python
