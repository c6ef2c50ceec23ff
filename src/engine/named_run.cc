#include "engine/named_run.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

// Returns "'ids', 'mask'".
std::string NamesOf(std::span<const Port> ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back("'" + Printable(port.name) + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

size_t PlaceOf(const char* kind, std::span<const Port> ports, const std::string& name) {
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
  if (port != ports.end()) return size_t(port - ports.begin());
  Invalid(Printable(name), "the model has no such {}; expected one of {}", kind,
          ports.empty() ? "none" : NamesOf(ports));
}

NamedRun NamedRunOf(const Model& model, const std::map<std::string, Tensor>& inputs,
                    const std::vector<std::string>& outputs) {
  Problems problems;
  NamedRun run;
  run.inputs.resize(model.inputs().size());
  for (const auto& [name, tensor] : inputs)
    problems.Try(
        [&, &input = name, &given = tensor] { run.inputs[PlaceOf("input", model.inputs(), input)] = given; });
  for (const Port& port : model.inputs())
    if (!inputs.contains(port.name))
      problems.Add(
          Error(Code::kInvalidArgument,
                fmt::format("[{}] the input has no tensor; got {} tensors, expected one for each of {}",
                            Printable(port.name), inputs.size(), NamesOf(model.inputs()))));
  for (const std::string& name : outputs)
    problems.Try([&] { run.outputs.push_back(PlaceOf("output", model.outputs(), name)); });
  problems.ThrowIfAny();
  for (size_t i = 0; outputs.empty() && i < model.outputs().size(); ++i) run.outputs.push_back(i);
  return run;
}

}  // namespace mete
