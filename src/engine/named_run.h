// The inputs and outputs of a run that are given by name, in the order of the model's ports.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "mete/engine.h"

namespace mete {

struct NamedRun {
  std::vector<Tensor> inputs;   // in the order of the model's inputs
  std::vector<size_t> outputs;  // the places of the outputs that are asked for among the model's
};

// `outputs` empty: all of them. Error INVALID_ARGUMENT with a line for each name that the model lacks and for
// each input without a tensor.
NamedRun NamedRunOf(const Model& model, const std::map<std::string, Tensor>& inputs,
                    const std::vector<std::string>& outputs);

// Returns the place of the port with this name. Error INVALID_ARGUMENT with the names that there are. `kind`
// is "input" or "output".
size_t PlaceOf(const char* kind, std::span<const Port> ports, const std::string& name);

}  // namespace mete
