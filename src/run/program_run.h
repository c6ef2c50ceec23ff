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

// Makes a share's graph ready. The function may return the same object for the same graph.
using MakeReady = std::function<std::shared_ptr<Ready>(const Graph&)>;

struct StageTimes {
  double wait_us = 0;     // of waiting for pieces that others send
  double compute_us = 0;  // 0: nothing is computed
};

// The memory with which runs of a program work, one run at a time. It is kept from run to run, so that a
// steady run allocates nothing.
struct ProgramMemory {
  std::vector<StageTimes> times;  // by stage, of the last run
  std::vector<Tensor> held;  // by the index of the held part; after a run the parts that are held at the end

  // Lets go of all tensors.
  void Clear();

  // The following members are those of the stage under way.
  std::vector<Tensor> needs, inputs;
  std::vector<ConstView> in;
  std::vector<View> out;
  // by need of this stage, and of the next one: the tensor in which outputs already lie; else empty
  std::vector<Tensor> begun, next_begun;
  std::vector<Tensor> next_held;
};

class PreparedProgram {
 public:
  // Makes the stages' graphs ready, which takes as long as preparing models does. Verify() must accept the
  // program. `processor`, for which `make` prepares graphs, outlives this object. `shared` allocates the
  // values of processors without shared memory of their own (Processor::SharedMemory()); null: in any memory.
  PreparedProgram(Program program, int index, Processor& processor, const MakeReady& make,
                  const MakeTensor& shared = nullptr);

  // Computes a request. `inputs` are the tensors that this processor holds at first: for the caller's own
  // processor the graph's inputs, for others none. After the run memory.held has the tensors that the
  // processor holds at the end; all others are released. `turn` is taken while a graph is computed,
  // unless the processor orders its shares. Thread-safe. Errors are that with which the inbox failed, which
  // also ends a computation under way, and those that the data cause.
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
  // The place of an output of a stage: the rows `at` of the need with this index of the next stage, so that
  // these rows need no copy there. A need of -1 stands for memory of its own.
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
  // Does what Cut() does, but copies into a tensor of buffers_.
  Tensor Piece(const Tensor& whole, const Part& part) const;
  Tensor PartOf(size_t stage, const NeedPart& part, const ProgramMemory& memory) const;

  const Program program_;
  const int index_;
  Processor& processor_;
  std::vector<std::shared_ptr<Ready>> ready_;  // by stage; null if the stage computes nothing
  std::vector<std::vector<Home>> homes_;       // by stage and output of its graph
  mutable Buffers buffers_;
};

}  // namespace mete
