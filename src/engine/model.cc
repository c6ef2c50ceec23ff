#include "engine/model.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "engine/memory_model.h"
#include "engine/precisions.h"
#include "graph/fused.h"
#include "graph/flops.h"
#include "graph/ports.h"
#include "import/caffe/caffe.h"
#include "import/onnx/onnx.h"
#include "import/tflite/tflite.h"
#include "passes/pass.h"

namespace mete {
namespace {

ImportOptions ImportOptionsOf(const LoadOptions& options) {
  if (options.batch < 0)
    Invalid("batch", "cannot be negative; got {}, expected 0 for what the file says, or the number of inputs",
            options.batch);
  return {options.input_shapes, options.tensor_shapes, options.batch};
}

Imported Import(const std::string& path, const LoadOptions& options) {
  const ImportOptions import = ImportOptionsOf(options);
  const std::filesystem::path file(path);
  if (file.extension() == ".caffemodel")
    Fail(Code::kFailedPrecondition, path,
         "these are weights alone; expected the network that they belong to; try {}",
         std::filesystem::path(file).replace_extension(".prototxt").string());
  if (file.extension() == ".tflite") return ImportTflite(path, import);
  if (file.extension() != ".prototxt") return ImportOnnx(path, import);
  const std::string weights = options.weights.empty()
                                  ? std::filesystem::path(file).replace_extension(".caffemodel").string()
                                  : options.weights;
  return ImportCaffe(path, weights, import);
}

ModelStats Count(const Graph& graph) {
  ModelStats stats;
  stats.nodes = int(graph.nodes.size());
  for (const Value& v : graph.values)
    if (v.is_constant()) {
      stats.parameters += v.constant.elements();
      stats.constant_bytes += int64_t(v.constant.bytes());
    }
  for (const Node& node : graph.nodes) {
    stats.flops += Flops(graph, node);
    ++stats.operators[node.op];
  }
  return stats;
}

// Numbers the sizes that may change: dimensions of one name have one number.
OpenDims OpenDimsOf(const std::vector<Port>& inputs) {
  OpenDims dims;
  std::map<std::string, int> named;
  int next = 0;
  for (const Port& port : inputs) {
    std::vector<int>& numbers = dims.emplace_back(size_t(port.shape.rank()), kFixed);
    // a model that was loaded for a shape of another rank has that shape in every run
    const bool may_change = port.declared.known() && port.declared.rank() == port.shape.rank();
    for (size_t i = 0; may_change && i < numbers.size(); ++i) {
      if (port.declared[int(i)] >= 0) continue;
      const std::string name = i < port.dims.size() ? port.dims[i] : "";
      const auto at = named.find(name);
      numbers[i] = at == named.end() ? next++ : at->second;
      if (!name.empty()) named.emplace(name, numbers[i]);
    }
  }
  return dims;
}

bool AnyOpen(const OpenDims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const std::vector<int>& input) {
    return std::any_of(input.begin(), input.end(), [](int number) { return number != kFixed; });
  });
}

constexpr const char* kAuto = "auto";

// Error INVALID_ARGUMENT if the inputs of a sample are not those of the model.
void CheckSamples(const Samples& samples, const std::vector<Port>& inputs) {
  for (const std::vector<Tensor>& sample : samples) {
    const auto fits = [](const Tensor& t, const Port& port) {
      return t.has_value() && t.type() == port.type && t.shape() == port.shape;
    };
    if (!std::equal(sample.begin(), sample.end(), inputs.begin(), inputs.end(), fits))
      Invalid(
          "samples",
          "do not fit the model; got {} tensors of one sample, expected one for each of the {} inputs, with "
          "its type and shape",
          sample.size(), inputs.size());
  }
}

// Lets nodes round their operands, as far as the outputs stay within the bound.
void ChoosePrecisionsOf(ModelInternals::Impl& impl, const LoadOptions& options) {
  if (!(options.error_bound > 0 && options.error_bound < 1))
    Invalid("error_bound",
            "is a share of the largest output; got {}, expected more than 0 and less than 1; try 0.01",
            options.error_bound);
  CheckSamples(options.samples, impl.inputs);
  const bool made_up = options.samples.empty();
  impl.precision = ChoosePrecisions(impl.graph, options.error_bound,
                                    made_up ? MadeUpSamples(impl.graph) : options.samples);
  impl.precision.made_up = made_up;
  impl.passes.node_precisions = NodePrecisions(impl.precision);
  impl.graph = WithOperands(impl.graph, impl.passes.node_precisions);
  impl.divisible = WithOperands(impl.divisible, impl.passes.node_precisions);
  impl.notes.push_back(ToText(impl.precision));
}

// Returns the precision that is asked for all nodes.
Precision PrecisionOfAll(const LoadOptions& options) {
  if (options.precision == kAuto) return Precision::kF32;
  for (const Precision precision :
       {Precision::kF32, Precision::kBf16, Precision::kF16, Precision::kW8, Precision::kW4})
    if (options.precision == Name(precision)) return precision;
  Invalid("precision",
          "no such precision of a network; got '{}', expected f32, bf16, f16, w8, w4 or auto; try f32",
          options.precision);
}

void Tell(const ModelInternals::Impl& impl) {
  const std::string& name = impl.graph.name;
  for (const std::string& note : impl.notes) Log(LogLevel::kInfo, name, "{}", note);
  double ms = 0;
  for (const PassTime& pass : impl.stats.passes) ms += pass.ms;
  Log(LogLevel::kDebug, name, "the model is loaded: {} nodes after {} passes of {:.1f} ms", impl.stats.nodes,
      impl.stats.passes.size(), ms);
}

Model Optimized(Imported imported, const LoadOptions& options) {
  auto impl = std::make_shared<ModelInternals::Impl>();
  impl->notes = std::move(imported.notes);
  impl->metadata = std::move(imported.metadata);
  impl->file = std::move(imported.file);
  impl->graph = std::move(imported.graph);
  const PortsInFile ports{std::move(imported.declared), std::move(imported.dims), std::move(imported.scales)};
  impl->inputs = PortsOf(impl->graph, impl->graph.inputs, ports);
  impl->dims = OpenDimsOf(impl->inputs);
  impl->passes = {options.optimize, options.disabled_passes, options.onnxruntime_sums,
                  PrecisionOfAll(options)};
  if (AnyOpen(impl->dims)) impl->imported = impl->graph;
  const auto records = RunPasses(impl->graph, {.optimize = options.optimize,
                                               .disabled = options.disabled_passes,
                                               .onnxruntime_sums = options.onnxruntime_sums,
                                               .precision = impl->passes.precision,
                                               .divisible = &impl->divisible});
  impl->outputs = PortsOf(impl->graph, impl->graph.outputs, {.scales = ports.scales});
  if (options.precision == kAuto) ChoosePrecisionsOf(*impl, options);
  impl->stats = Count(impl->graph);
  for (const PassRecord& r : records)
    impl->stats.passes.push_back({r.name, r.ms, r.nodes_before, r.nodes_after});
  Tell(*impl);
  return ModelInternals::Make(std::move(impl));
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& p : OptimizingPasses()) names.push_back(p.name);
  return names;
}

Model Model::Load(const std::string& path, const LoadOptions& options) {
  return Optimized(Import(path, options), options);
}

Model Model::LoadMemory(const MemoryModel& model, const LoadOptions& options) {
  if (!options.weights.empty())
    Invalid(model.name,
            "LoadOptions::weights names a file; got '{}', expected none for a model in memory; "
            "try MemoryModel::weights",
            options.weights);
  return Optimized(ImportMemory(model, ImportOptionsOf(options)), options);
}

const Model::Impl& Model::impl() const {
  if (!impl_)
    Fail(Code::kFailedPrecondition, "model",
         "it is empty: made by default, or moved from; try Model::Load()");
  return *impl_;
}

const std::string& Model::name() const { return impl().graph.name; }
const std::vector<Port>& Model::inputs() const { return impl().inputs; }
const std::vector<Port>& Model::outputs() const { return impl().outputs; }
const std::vector<std::string>& Model::notes() const { return impl().notes; }
const ModelStats& Model::stats() const { return impl().stats; }
const PrecisionReport& Model::precision() const { return impl().precision; }
const std::map<std::string, std::string>& Model::metadata() const { return impl().metadata; }
const FileInfo& Model::file() const { return impl().file; }
std::string Model::Text() const { return ToText(impl().graph); }
std::string Model::Dot() const { return ToDot(impl().graph); }

}  // namespace mete
