// What a loaded model holds; shared by Model and Session. And models that come from no file.
#pragma once

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct Model::Impl {
  Graph graph;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> notes;
  std::map<std::string, std::string> metadata;
  ModelStats stats;
};

// The name of the only processor in the plan of a session that has no pool: all cores that it may use.
inline constexpr const char* kSessionProcessor = "cpu";

struct ModelInternals {
  using Impl = Model::Impl;
  static Model Make(std::shared_ptr<const Impl> impl) { return Model(std::move(impl)); }
  static const Impl& Of(const Model& model) { return model.impl(); }
};

// The model's graph after its passes; as long as the model lives.
inline const Graph& GraphOf(const Model& model) { return ModelInternals::Of(model).graph; }

// A model of a graph that is there already: a device's share, or one that another device sent. With the
// passes that `options` asks for.
Model ModelOf(Graph graph, const LoadOptions& options = {});

}  // namespace mete
