// The inputs and outputs of a graph as its caller sees them, and checks of the tensors that the caller
// brings.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

// What a model's file says about some of its ports, by name (Port).
struct PortsInFile {
  std::map<std::string, Shape> declared = {};
  std::map<std::string, std::vector<std::string>> dims = {};
  std::map<std::string, PortScale> scales = {};
};

// Returns the values `ids` as ports.
std::vector<Port> PortsOf(const Graph& graph, std::span<const ValueId> ids, const PortsInFile& file = {});

// Throws INVALID_ARGUMENT if a tensor does not have the type and shape of its port, or has no data. `kind` is
// "input" or "output".
void CheckPort(const char* kind, const Port& port, DType type, const Shape& shape, const void* data);

// Throws INVALID_ARGUMENT if the tensors are not what the ports of the model `name` take.
void CheckInputs(const std::string& name, std::span<const Port> ports, std::span<const ConstView> inputs);
// Checks the same for tensors whose shapes need only fit the shapes that the model's file declares.
void CheckOpenInputs(const std::string& name, std::span<const Port> ports, std::span<const ConstView> inputs);
// Checks the same for one of them, without the sizes of dimensions that other inputs have as well.
void CheckOpenInput(const Port& port, const ConstView& input);
// Checks the same for memory that a run writes to, also if a port's shape is known only at run time.
void CheckOutputs(const std::string& name, std::span<const Port> ports, std::span<const View> outputs);
// Checks the same if the shapes are not those of the ports, but follow from those of the inputs.
void CheckOutputMemory(const std::string& name, std::span<const Port> ports, std::span<const View> outputs);
void CheckOutputMemory(const Port& port, const View& output);

}  // namespace mete
