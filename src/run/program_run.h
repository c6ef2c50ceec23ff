// What one processor does of a plan for a request, stage after stage: sends, gathers, computes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/pool/program.h"
#include "processor/processor.h"
#include "run/buffers.h"
#include "run/inbox.h"
#include "run/turn.h"

namespace mete {

// Takes the pieces that a processor sends. Errors of sending reach the processors that wait for the pieces.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void Send(int to, const PieceId& id, Tensor piece) = 0;
};

// Makes a share's graph ready. May return the same object for the same graph.
using MakeReady = std::function<std::shared_ptr<Ready>(const Graph&)>;

struct StageTimes {
  double wait_us = 0;     // for pieces that others send
  double compute_us = 0;  // 0: nothing is computed
};

// What runs of a program work with, one run at a time. It is kept from run to run, so that a steady run
// allocates nothing.
struct ProgramMemory {
  std::vector<StageTimes> times;  // by stage, of the last run
  std::vector<Tensor> held;       // by the index of what the program holds; after a run: at last

  // Lets go of all tensors.
  void Clear();

  // Of the stage under way:
  std::vector<Tensor> needs, inputs;
  std::vector<ConstView> in;
  std::vector<View> out;
  // by need of this stage, and of the next one: where outputs already lie in it; else empty
  std::vector<Tensor> begun, next_begun;
  std::vector<Tensor> next_held;
};

class PreparedProgram {
 public:
  // Makes the stages' graphs ready, which takes as long as preparing models does. The program is one in which
  // Verify() finds nothing. `processor`, which `make` prepares for, outlives this object.
  PreparedProgram(Program program, int index, Processor& processor, const MakeReady& make);

  // Computes a request. `inputs`: the tensors that this processor holds at first: of the caller's own the
  // graph's inputs, of others none. The tensors that it holds at last are in memory.held, and all others are
  // let go of. `turn` is taken while a graph is computed. Thread-safe. Error: the one with which the inbox
  // failed, which also ends what is being computed, or what the data cause.
  void Run(std::span<const Tensor> inputs, Inbox& inbox, Outbox& outbox, Turn& turn,
           ProgramMemory& memory) const;

  const Program& program() const { return program_; }
  int index() const { return index_; }
  const Processor& processor() const { return processor_; }
  // Returns the threads of the steps of a stage; null if its processor has none, or nothing to compute.
  const ThreadPlan* thread_plan(size_t stage) const {
    return ready_[stage] ? ready_[stage]->thread_plan() : nullptr;
  }

 private:
  // Where an output of a stage lies: as rows `at` of the need with this index of the next stage, so that
  // these rows need no copy there. need -1: in memory of its own.
  struct Home {
    int need = -1;
    Part at;
  };

  std::vector<Home> HomesOf(size_t stage) const;
  void RunStages(Inbox& inbox, Outbox& outbox, Turn& turn, ProgramMemory& memory) const;
  void RunStage(size_t stage, Inbox& inbox, Turn& turn, ProgramMemory& memory) const;
  void Compute(size_t stage, Inbox& inbox, Turn& turn, ProgramMemory& memory) const;
  Tensor OutputOf(size_t stage, size_t output, ProgramMemory& memory) const;
  Tensor Gather(size_t stage, size_t need, Inbox& inbox, const ProgramMemory& memory) const;
  Tensor Piece(const Tensor& whole, const Part& part) const;  // as Cut(), but copies into buffers_
  Tensor PartOf(size_t stage, const NeedPart& part, const ProgramMemory& memory) const;

  const Program program_;
  const int index_;
  Processor& processor_;
  std::vector<std::shared_ptr<Ready>> ready_;  // by stage; null where nothing is computed
  std::vector<std::vector<Home>> homes_;       // by stage and output of its graph
  mutable Buffers buffers_;
};

}  // namespace mete
