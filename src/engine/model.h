// What a loaded model holds; shared by Model and Session.
#pragma once

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct Model::Impl {
  Graph graph;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> notes;
  ModelStats stats;
};

}  // namespace mete
