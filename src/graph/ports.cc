#include "graph/ports.h"

#include "base/error.h"

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

}  // namespace

void CheckPort(const char* kind, const Port& port, DType type, const Shape& shape, const void* data) {
  if (port.type != DType::kUnknown && type != port.type)
    Invalid(port.name, "wrong {} type; got {}, expected {}", kind, Name(type), Name(port.type));
  if (port.shape.known() && shape != port.shape)
    Invalid(port.name, "wrong {} shape; got {}, expected {}{}", kind, ToString(shape), ToString(port.shape),
            AdviceFor(port, shape));
  if (!data && shape.Elements() > 0) Invalid(port.name, "{} has no data", kind);
}

std::vector<Port> PortsOf(const Graph& graph, std::span<const ValueId> ids,
                          const std::map<std::string, Shape>& declared) {
  std::vector<Port> ports;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    const auto at = declared.find(value.name);
    ports.push_back({value.name, value.type, value.shape, at == declared.end() ? value.shape : at->second});
  }
  return ports;
}

void CheckInputs(const std::string& name, std::span<const Port> ports, std::span<const ConstView> inputs) {
  if (inputs.size() != ports.size())
    Invalid(name, "wrong number of inputs; got {}, expected {}", inputs.size(), ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    CheckPort("input", ports[i], inputs[i].type, inputs[i].shape, inputs[i].data);
}

void CheckOutputs(const std::string& name, std::span<const Port> ports, std::span<const View> outputs) {
  if (outputs.size() != ports.size())
    Invalid(name, "wrong number of outputs; got {}, expected {}", outputs.size(), ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].shape.known())
      Invalid(ports[i].name,
              "the output's shape is known only at run time; try the Run() that returns tensors");
    CheckPort("output", ports[i], outputs[i].type, outputs[i].shape, outputs[i].data);
  }
}

}  // namespace mete
