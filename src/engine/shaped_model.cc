#include "engine/shaped_model.h"

#include <algorithm>

#include "engine/model.h"

namespace mete {

std::unique_ptr<ShapedGraphs> ShapedGraphsOf(const Model& model) {
  const ModelInternals::Impl& impl = ModelInternals::Of(model);
  if (impl.imported.inputs.empty()) return nullptr;
  return std::make_unique<ShapedGraphs>(impl.imported, impl.graph, impl.dims, impl.passes);
}

bool HasLoadedShapes(const Model& model, std::span<const ConstView> inputs) {
  return std::equal(inputs.begin(), inputs.end(), model.inputs().begin(), model.inputs().end(),
                    [](const ConstView& input, const Port& port) { return input.shape == port.shape; });
}

}  // namespace mete
