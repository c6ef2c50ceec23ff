// The interface of the processors that compute shares of a model: a CPU or some of its cores, an emulated
// processor, the processor of another device, later a GPU. Each kind has a folder of its own beside this
// file.
//
// A share is a graph (partition/share.h), and each kind of processor runs it in its own way: a CPU by steps
// and blocks on its threads, a GPU as one batch on its queue. Kernels, arenas, tuning and traces stay inside
// of the processor. Synchronization exists only between processors, and the planner counts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/unpinned.h"
#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

struct ThreadPlan;

// Allocates a tensor in memory of a certain kind. Error RESOURCE_EXHAUSTED if there is not enough.
using MakeTensor = std::function<Tensor(DType, const Shape&)>;

struct ProcessorInfo {
  std::string name;         // within its pool: "cpu:0", "gpu"
  std::string kind;         // "cpu", "gpu", ...: a kind of processor/make, or "member"
  std::string description;  // for people: "1 thread on core 0"
};

// What the shares that are ready on a processor have in this process's memory. Processors that are one device
// have it in common.
struct ProcessorMemory {
  int64_t weights_bytes = 0;  // in the order of its kernels, beside the model's file
  int64_t values_bytes = 0;   // between the steps of shares, and tensors of SharedMemory()
};

// A share made ready: weights are packed and kernels are chosen. The processor that prepared it outlives it.
class Ready {
 public:
  virtual ~Ready() = default;

  // Begins to compute the share. `inputs` and `outputs` have the types and shapes of the graph's inputs and
  // outputs, in its order, and their memory stays as it is until Wait() has returned. A CPU computes
  // everything on the calling thread and its own threads before this function returns. Calls from several
  // threads take turns: each Start() is followed by the Wait() of the same thread. This function or Wait()
  // throws CANCELLED if options.cancel was cancelled, and the other Errors that the data cause. A CPU also
  // ends a run at options.deadline, with DEADLINE_EXCEEDED; others have the deadline of their caller. If
  // options.trace is given, the processor fills in when worker 0 computed each node: profiles take the times
  // of layers from it.
  virtual void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
                     const RunOptions& options) = 0;
  // Returns when the outputs have been written.
  virtual void Wait() = 0;

  // Calls Start() and Wait().
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options);
  // Runs the share and returns its outputs in tensors that it allocates. On a CPU this also computes graphs
  // whose output shapes depend on data.
  virtual std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) = 0;

  // Returns the bytes of activations and packed weights; an upper bound, because the shares of a CPU that run
  // in turn use the same memory for activations.
  virtual int64_t memory_bytes() const = 0;
  virtual int threads() const = 0;  // the calling thread included
  // Returns the threads of each step of a CPU's share; null for processors without such threads.
  virtual const ThreadPlan* thread_plan() const { return nullptr; }
  virtual double prepare_ms() const = 0;  // of making it ready

  // Measures kernels that were chosen by estimates (PrepareSoon()), for about `us` microseconds and at least
  // one step of some calls, and takes the fastest ones. Returns whether any are left. Takes turns with runs.
  virtual bool MeasureFor(double us) {
    (void)us;
    return false;
  }
};

class Processor {
 public:
  virtual ~Processor() = default;
  virtual const ProcessorInfo& info() const = 0;

  // Throws UNAVAILABLE if the processor is lost and may come back, for example a GPU that is being reset.
  virtual void CheckThere() const {}

  // Returns why the processor cannot compute this node; empty if it can.
  virtual std::string WhyNot(const Graph& graph, const Node& node) const = 0;

  // Makes a share ready. `share` is a graph as it is before the pass `layout`; the processor runs the passes
  // behind division on its own copy. Everything that can fail for reasons known beforehand fails here: one
  // Error lists every node that the processor cannot compute. Thread-safe.
  virtual std::shared_ptr<Ready> Prepare(const Graph& share) = 0;
  // The same with the threads of each step as a plan gives them. Error INVALID_ARGUMENT if they do not fit
  // the share or this processor.
  virtual std::shared_ptr<Ready> PrepareAsPlanned(const Graph& share, const ThreadPlan& threads);

  // The same as soon as possible: a kernel without a known time is chosen by an estimate, until
  // Ready::MeasureFor() has measured it. The share's times change until then.
  virtual std::shared_ptr<Ready> PrepareSoon(const Graph& share) { return Prepare(share); }

  // Returns whether Prepare() takes seconds, because it builds kernels, as that of a GPU does. The sessions
  // of a pool with such a processor answer by their home alone until the first plan is ready.
  virtual bool PreparesLate() const { return false; }
  // Ends every Prepare() that is under way, or begins later, with CANCELLED, if it would take long: the user
  // of the processor goes. Thread-safe.
  virtual void CancelPreparing() {}

  // Returns whether shares that are started at once are brought into an order by the processor itself, as one
  // with a queue of its own does. Callers then start each share at once. False: callers let shares take
  // turns.
  virtual bool OrdersShares() const { return false; }

  // Returns the core to which a thread that starts this processor's shares should be pinned; -1: any core.
  virtual int CallerCore() const { return -1; }

  // Returns what allocates tensors that the CPU and this processor's shares both read and write where they
  // lie: shares copy their inputs and outputs if these lie elsewhere. Null: shares use any memory as it is,
  // or copy always. The function may be called as long as the processor lives, and its tensors may outlive
  // both.
  virtual MakeTensor SharedMemory() { return nullptr; }

  // Returns what its shares have in memory, each weight and each arena once. Thread-safe.
  virtual ProcessorMemory memory() const { return {}; }

  // Makes a tensor that another processor has written readable for this one, and a tensor that this processor
  // has written readable for the others. Processors of one memory return the tensor itself; a processor with
  // a memory of its own copies or maps it.
  virtual Tensor Import(Tensor tensor) { return tensor; }
  virtual Tensor Export(Tensor tensor) { return tensor; }
};

// While an object of this class lives, the calling thread starts shares of the processor and waits for them,
// and is pinned to the processor's core. The destructor restores the thread's cores. Threads that are made
// meanwhile must be made Unpinned().
class AdoptedThread {
 public:
  explicit AdoptedThread(const Processor& processor) : pin_(processor.CallerCore()) {}

 private:
  const PinnedTo pin_;
};

}  // namespace mete
