// A model's layers as what cuts between a device and a server are about: values with their readers, bytes and
// weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "partition/layers.h"
#include "plan/site/min_cut.h"

namespace mete {

struct CutValue {
  ValueId value = kNoValue;
  int producer = -1;             // the layer that makes it; -1: an input of the graph
  std::vector<int> readers;      // other layers that read it, ascending
  std::optional<int64_t> bytes;  // nothing: its shape is not known before a run, so that it cannot be sent
  bool is_answer = false;        // an output of the graph
};

struct CutModel {
  explicit CutModel(const Graph& graph);

  std::vector<Layer> layers;
  std::vector<CutValue> values;  // that other layers or the caller read
  std::vector<double> weights;   // by layer: its part of the bytes of all constants, which are 1 together; 0,
                                 // if there are none
  std::vector<int> firsts,
      lasts;  // layers that read no other layer's value; whose values no other layer reads
};

// What a division sends. A value is sent up once if layers of the server read it, and down if it is an answer
// that the server makes.
struct Sent {
  int64_t up_bytes = 0, down_bytes = 0;
  bool input = false;  // whether an input of the graph is sent
  bool possible =
      true;  // false: a layer of the device reads what the server makes, or a value to send has no known size
};
// `input_bytes`: of the graph's inputs in the form in which they are sent; 0: as tensors.
Sent SentBy(const CutModel& model, const OnDevice& on_device, int64_t input_bytes);

// Error unless `on_device` has a side for each layer, and no layer of the device reads what the server makes.
void CheckCut(const CutModel& model, const OnDevice& on_device);

// Returns the divisions in which the first layers are on the device, 1 to all but one of them: Neurosurgeon's
// cuts.
std::vector<OnDevice> Prefixes(const CutModel& model);

}  // namespace mete
