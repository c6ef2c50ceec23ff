#include "graph/ports.h"

#include "base/error.h"
#include "base/visit_type.h"

namespace mete {
namespace {

// Where the file leaves open what differs, the model can be loaded with that shape.
std::string AdviceFor(const Port& port, const Shape& shape) {
  const Shape& declared = port.declared;
  if (!declared.known() || declared.rank() != shape.rank()) return "";
  for (int i = 0; i < shape.rank(); ++i)
    if (declared[i] >= 0 && declared[i] != shape[i]) return "";
  return fmt::format("; try --shape {}={}, in C++ LoadOptions::input_shapes", port.name, ToString(shape));
}

const std::string& DimName(const Port& port, int axis) {
  static const std::string none;
  return size_t(axis) < port.dims.size() ? port.dims[size_t(axis)] : none;
}

// A model that was loaded for a shape of another rank than the file's has that shape in every run.
bool MayChange(const Port& port) {
  return port.declared.known() && port.declared.rank() == port.shape.rank();
}

// Returns the size that a dimension has in every run: that for which the model was loaded, which may be
// another one than the file's. -1: the file leaves it open.
int64_t FixedSize(const Port& port, int axis) { return port.declared[axis] < 0 ? -1 : port.shape[axis]; }

// Returns the shape with the names of what the file leaves open: "1xPx64", "?x3x224x224".
std::string DeclaredText(const Port& port) {
  if (!MayChange(port) || port.declared.rank() == 0) return ToString(port.shape);
  std::string text;
  for (int i = 0; i < port.declared.rank(); ++i) {
    const std::string& name = DimName(port, i);
    text += i == 0 ? "" : "x";
    const int64_t size = FixedSize(port, i);
    text += size >= 0 ? std::to_string(size) : name.empty() ? "?" : name;
  }
  return text;
}

bool Fits(const Shape& shape, const Port& port) {
  if (shape == port.shape) return true;
  if (!MayChange(port) || shape.rank() != port.declared.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = FixedSize(port, i);
    if (shape[i] < 0 || (size >= 0 && shape[i] != size)) return false;
  }
  return true;
}

struct Place {
  size_t port = 0;
  int axis = 0;
};

// Returns the first dimension of the ports that has this name.
Place FirstWithName(std::span<const Port> ports, const std::string& name) {
  for (size_t p = 0; p < ports.size(); ++p)
    for (size_t i = 0; i < ports[p].dims.size(); ++i)
      if (ports[p].dims[i] == name) return {p, int(i)};
  return {};
}

// Throws unless a dimension has the size that the first one of its name has. Allocates nothing otherwise.
void CheckNamedSizes(std::span<const Port> ports, std::span<const ConstView> inputs, size_t p) {
  const Shape& shape = inputs[p].shape;
  for (int i = 0; i < shape.rank(); ++i) {
    const std::string& name = DimName(ports[p], i);
    if (name.empty()) continue;
    const Place first = FirstWithName(ports, name);
    const int64_t size = inputs[first.port].shape[first.axis];
    if (size != shape[i])
      Invalid(ports[p].name, "wrong input shape; got {}, expected {} with {}={} as in input '{}'",
              ToString(shape), DeclaredText(ports[p]), name, size, ports[first.port].name);
  }
}

void CheckType(const char* kind, const Port& port, DType type) {
  if (port.type != DType::kUnknown && type != port.type)
    Invalid(port.name, "wrong {} type; got {}, expected {}", kind, Name(type), Name(port.type));
}

void CheckHasData(const char* kind, const Port& port, const Shape& shape, const void* data) {
  if (!data && shape.Elements() > 0) Invalid(port.name, "{} has no data", kind);
}

void CheckTypeAndShape(const Port& port, const ConstView& input) {
  CheckType("input", port, input.type);
  if (!Fits(input.shape, port))
    Invalid(port.name, "wrong input shape; got {}, expected {}", ToString(input.shape), DeclaredText(port));
}

void CheckCount(const std::string& name, std::span<const Port> ports, size_t inputs) {
  if (inputs != ports.size())
    Invalid(name, "wrong number of inputs; got {}, expected {}", inputs, ports.size());
}

}  // namespace

void CheckPort(const char* kind, const Port& port, DType type, const Shape& shape, const void* data) {
  CheckType(kind, port, type);
  if (port.shape.known() && shape != port.shape)
    Invalid(port.name, "wrong {} shape; got {}, expected {}{}", kind, ToString(shape), ToString(port.shape),
            AdviceFor(port, shape));
  CheckHasData(kind, port, shape, data);
}

std::vector<Port> PortsOf(const Graph& graph, std::span<const ValueId> ids, const PortsInFile& file) {
  std::vector<Port> ports;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    Port port{value.name, value.type, value.shape, value.shape};
    if (const auto at = file.declared.find(value.name); at != file.declared.end()) port.declared = at->second;
    if (const auto at = file.dims.find(value.name); at != file.dims.end()) port.dims = at->second;
    if (const auto at = file.scales.find(value.name); at != file.scales.end()) port.scale = at->second;
    ports.push_back(std::move(port));
  }
  return ports;
}

Tensor NumbersOf(const Port& port, const Tensor& tensor) {
  if (!port.scale) return tensor;
  Tensor numbers(DType::kF32, tensor.shape());
  const auto [scale, zero] = *port.scale;
  VisitInt(tensor.type(), [&, scale = scale, zero = double(zero)]<class T>() {
    std::transform(tensor.as<T>(), tensor.as<T>() + tensor.elements(), numbers.mutable_view().as<float>(),
                   [&](T q) { return scale * float(double(q) - zero); });
  });
  return numbers;
}

std::vector<Tensor> NumbersOf(std::span<const Port> ports, std::span<const Tensor> tensors) {
  std::vector<Tensor> numbers;
  for (size_t i = 0; i < tensors.size(); ++i) numbers.push_back(NumbersOf(ports[i], tensors[i]));
  return numbers;
}

void CheckInputs(const std::string& name, std::span<const Port> ports, std::span<const ConstView> inputs) {
  CheckCount(name, ports, inputs.size());
  for (size_t i = 0; i < ports.size(); ++i)
    CheckPort("input", ports[i], inputs[i].type, inputs[i].shape, inputs[i].data);
}

void CheckOpenInputs(const std::string& name, std::span<const Port> ports,
                     std::span<const ConstView> inputs) {
  CheckCount(name, ports, inputs.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    CheckTypeAndShape(ports[i], inputs[i]);
    CheckNamedSizes(ports, inputs, i);
    CheckHasData("input", ports[i], inputs[i].shape, inputs[i].data);
  }
}

void CheckOpenInput(const Port& port, const ConstView& input) {
  CheckTypeAndShape(port, input);
  CheckHasData("input", port, input.shape, input.data);
}

void CheckOutputMemory(const std::string& name, std::span<const Port> ports, std::span<const View> outputs) {
  if (outputs.size() != ports.size())
    Invalid(name, "wrong number of outputs; got {}, expected {}", outputs.size(), ports.size());
  for (size_t i = 0; i < ports.size(); ++i) CheckOutputMemory(ports[i], outputs[i]);
}

void CheckOutputMemory(const Port& port, const View& output) {
  if (!port.shape.known())
    Invalid(port.name, "the output's shape is known only at run time; try the Run() that returns tensors");
  CheckType("output", port, output.type);
  CheckHasData("output", port, output.shape, output.data);
}

void CheckOutputs(const std::string& name, std::span<const Port> ports, std::span<const View> outputs) {
  CheckOutputMemory(name, ports, outputs);
  for (size_t i = 0; i < ports.size(); ++i)
    CheckPort("output", ports[i], outputs[i].type, outputs[i].shape, outputs[i].data);
}

}  // namespace mete
