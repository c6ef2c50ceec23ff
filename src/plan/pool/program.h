// A plan for several processors as a program for each processor, as a value. For every group the program has
// the pieces that the processor sends, the parts that it needs and their senders, the graph that it computes,
// and the parts that it holds afterwards. Each processor executes its program at its own pace; together they
// compute a request.
//
// The data that one processor sends to another in a group are a piece: a part along at most one axis of a
// part that the sender holds, and also a part along at most one axis of the part that the receiver needs.
// This also holds if slices along one axis become slices along another.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "mete/pool.h"
#include "partition/part.h"
#include "plan/plan.h"

namespace mete {

// The source of a piece of a needed part.
struct NeedSource {
  int processor = 0;
  int hold = 0;  // index into the parts that `processor` holds; used if `processor` is this processor
  Part cut;      // the piece as a part of what `processor` holds
  Part at;       // the piece as a part of what is needed
};

struct ProgramNeed {
  ValueId value = kNoValue;  // the value in the whole graph, for messages
  DType type = DType::kUnknown;
  Shape shape;                      // shape of the needed part
  std::vector<NeedSource> sources;  // the sources cover the needed part once
};

// A piece that the processor sends: source number `source` of need number `need` of processor `to` in the
// same group.
struct ProgramSend {
  int to = 0, need = 0, source = 0;
  int hold = 0;  // index into the parts that this processor holds
  Part cut;      // the piece as a part of it
};

// A part of a need: an input of the graph, or a part that the processor keeps without computing it.
struct NeedPart {
  int need = 0;
  Part cut;
};

struct ProgramStage {
  std::vector<ProgramSend> sends;  // the processor sends these first
  std::vector<ProgramNeed> needs;
  std::vector<NeedPart> inputs;            // the inputs of `graph`, in its order
  Graph graph;                             // a graph without nodes computes nothing
  std::optional<ThreadPlan> threads = {};  // of the graph's steps; nothing: the processor chooses
  std::vector<NeedPart> kept;
  std::vector<Shape> holds;  // held parts after the stage: the graph's outputs, then the kept parts
};

struct Program {
  // one stage per group, and a last one in which the caller's own processor needs the graph's outputs
  std::vector<ProgramStage> stages;
};

// Returns one program per processor of the plan, in their order. The first processor is the caller's own,
// which holds InputsOf() at the beginning and OutputsOf() at the end. The groups may cover a range of
// consecutive layers only. Error if the plan is not one of this graph, or if it would send a value whose
// shape depends on the data.
std::vector<Program> ProgramsOf(const Graph& graph, const Plan& plan);

// Return the values with which a plan begins and ends, each once and without constants. For a plan of all
// layers these are the graph's inputs and outputs in their order; for a range of layers they are the values
// that are live there.
std::vector<ValueId> InputsOf(const Graph& graph, const Plan& plan);
std::vector<ValueId> OutputsOf(const Graph& graph, const Plan& plan);

// Checks a program from any source: indices, parts, shapes and graphs must fit each other, and no value may
// have more than `most_bytes`. `at_first` are the shapes of the parts that the processor holds when a request
// begins. Error INVALID_ARGUMENT.
void Verify(const Program& program, int processor, const std::vector<Shape>& at_first,
            int64_t most_bytes = int64_t(1) << 33);

// Returns the bytes that a processor receives from other processors for a request.
int64_t ReceivedBytes(const Program& program, int processor);

}  // namespace mete
