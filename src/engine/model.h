// What a loaded model holds; shared by Model and Session.
#pragma once

#include "graph/graph.h"
#include "mete/engine.h"
#include "passes/open_graph.h"
#include "processor/cpu/prepare/packed_in_use.h"

namespace mete {

struct Model::Impl {
  Graph graph;
  Graph imported;  // before all passes; empty if no input has an open dimension
  OpenDims dims;   // of the inputs
  PassChoice passes;
  PrecisionReport precision;
  Graph divisible;  // before the passes that each share of a pool runs by itself; has the same constants
  std::vector<Port> inputs, outputs;
  std::vector<std::string> notes;
  std::map<std::string, std::string> metadata;
  FileInfo file;
  ModelStats stats;
  // of the model's sessions on a CPU: kernels that are alike use the same weights
  std::shared_ptr<PackedInUse> packed = std::make_shared<PackedInUse>();
};

struct ModelInternals {
  using Impl = Model::Impl;
  static Model Make(std::shared_ptr<const Impl> impl) { return Model(std::move(impl)); }
  static const Impl& Of(const Model& model) { return model.impl(); }
};

// Returns the model's graph after its passes. The reference is valid as long as the model lives.
inline const Graph& GraphOf(const Model& model) { return ModelInternals::Of(model).graph; }
// Returns the graph that a pool divides. The reference is valid as long as the model lives.
inline const Graph& DivisibleOf(const Model& model) { return ModelInternals::Of(model).divisible; }

}  // namespace mete
