// A plan for several devices as what each of them has to do: for every group what it sends of what it holds,
// what it needs and from whom, the graph that it computes, and what it holds then. Devices that do this, each
// in its own time, answer a request together. A value.
//
// What is sent between two devices in a group is a piece: of what the sender holds it is a part along at most
// one axis, and of what the receiver needs as well, also where slices along one axis become slices along
// another.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "partition/part.h"
#include "plan/devices/devices_plan.h"

namespace mete {

// requests that a program has under way at a time; guess: a pipeline over more devices than that
inline constexpr int kMostLanes = 16;

// Where a piece of what is needed comes from.
struct NeedSource {
  int device = 0;
  int hold = 0;  // which of what that device holds: of use where it is this one
  Part cut;      // of that
  Part at;       // of what is needed
};

struct ProgramNeed {
  ValueId value = kNoValue;  // of the whole graph; for messages
  DType type = DType::kUnknown;
  Shape shape;                      // of what is needed
  std::vector<NeedSource> sources;  // cover it once
};

// Of the need with this index of the device `to`, in the same group, its source with this index.
struct ProgramSend {
  int to = 0, need = 0, source = 0;
  int hold = 0;  // which of what this device holds
  Part cut;      // of that
};

// A part of what is needed: an input of the graph, or what is held on without being computed.
struct NeedPart {
  int need = 0;
  Part cut;
};

struct ProgramStage {
  std::vector<ProgramSend> sends;  // before anything else
  std::vector<ProgramNeed> needs;
  std::vector<NeedPart> inputs;  // of `graph`, in its order
  Graph graph;                   // without nodes: nothing is computed
  std::vector<NeedPart> kept;
  std::vector<Shape> holds;  // afterwards: the graph's outputs, then what is kept
};

struct DeviceProgram {
  // one for each group, and one more, in which the caller's own device needs the graph's outputs
  std::vector<ProgramStage> stages;
};

// One for each device of the plan, in their order; the first is the caller's own, which holds InputsOf() at
// first and OutputsOf() at last. Groups may cover some layers that follow each other. Error where the plan is
// not one of this graph, or where a value would have to be sent whose shape depends on data.
std::vector<DeviceProgram> ProgramsOf(const Graph& graph, const DevicesPlan& plan);

// What a plan of all layers, or of some, begins and ends with, each once: the graph's own inputs and outputs
// in their order, or what is live there. Without constants.
std::vector<ValueId> InputsOf(const Graph& graph, const DevicesPlan& plan);
std::vector<ValueId> OutputsOf(const Graph& graph, const DevicesPlan& plan);

// Whether a program makes sense by itself, whoever wrote it: indices, parts and shapes fit each other, the
// graphs theirs, and no value is of more than `most_bytes`. `at_first`: the shapes of what the device holds
// when a request begins. Error INVALID_ARGUMENT.
void Verify(const DeviceProgram& program, int device, const std::vector<Shape>& at_first,
            int64_t most_bytes = int64_t(1) << 33);

// Bytes that a device gets from others for a request.
int64_t ReceivedBytes(const DeviceProgram& program, int device);

}  // namespace mete
