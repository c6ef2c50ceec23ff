#include "mete/binding.h"

#include <algorithm>

#include "base/error.h"
#include "base/problems.h"
#include "engine/named_run.h"
#include "graph/ports.h"

namespace mete {
namespace {

// Whether all runs of the model have the shapes for which it was loaded.
bool HasFixedShapes(const Model& model) {
  return std::all_of(model.inputs().begin(), model.inputs().end(),
                     [](const Port& port) { return port.declared == port.shape; });
}

template <class Memory>
void AddUnbound(const char* kind, const std::vector<Port>& ports, const std::vector<Memory>& memory,
                Problems& problems) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (!memory[i].present())
      problems.Add(Error(Code::kFailedPrecondition,
                         fmt::format("[{0}] the {1} has no memory; got none, expected that of a tensor; try "
                                     "Binding::Bind{2}(\"{0}\", ...)",
                                     Printable(ports[i].name), kind, kind[0] == 'i' ? "Input" : "Output")));
}

}  // namespace

Binding::Binding(Session& session)
    : session_(session),
      model_(session.model()),
      inputs_(model_.inputs().size()),
      outputs_(model_.outputs().size()) {}

void Binding::BindInput(const std::string& name, const ConstView& memory) {
  const size_t place = PlaceOf("input", model_.inputs(), name);
  CheckOpenInput(model_.inputs()[place], memory);
  inputs_[place] = memory;
}

void Binding::BindOutput(const std::string& name, const View& memory) {
  const size_t place = PlaceOf("output", model_.outputs(), name);
  const Port& port = model_.outputs()[place];
  CheckOutputMemory(port, memory);
  if (HasFixedShapes(model_)) CheckPort("output", port, memory.type, memory.shape, memory.data);
  outputs_[place] = memory;
}

void Binding::Run(const RunOptions& options) {
  CheckAllBound();
  session_.Run(inputs_, outputs_, options);
}

void Binding::CheckAllBound() const {
  Problems problems;
  AddUnbound("input", model_.inputs(), inputs_, problems);
  AddUnbound("output", model_.outputs(), outputs_, problems);
  problems.ThrowIfAny();
}

}  // namespace mete
