// The back end for ONNX: a Graph as the bytes of a model file. The importer reads what this folder writes.
#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct OnnxFileOptions {
  // The shapes that the file declares for the inputs, by Port::declared and Port::dims: dimensions of -1 are
  // open. Inputs that are not named here have the graph's own shapes.
  std::span<const Port> inputs = {};
  std::map<std::string, std::string> metadata = {};  // the file's own keys
};

// Returns the graph as a serialized ModelProto with the oldest opset from 13 on in which its operators have
// their form in Graph. Throws one Error UNIMPLEMENTED that lists the nodes that ONNX does not have, such as
// those of Mete's own passes, and RESOURCE_EXHAUSTED for a model beyond the format's 2 GiB.
std::string OnnxFileOf(const Graph& graph, const OnnxFileOptions& options = {});

// Returns the opset of the file (see above).
int64_t OpsetOf(const Graph& graph);

}  // namespace mete
