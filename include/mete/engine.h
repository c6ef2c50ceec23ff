// The engine: load a model, make a session, run it.
//
//   #include "mete/engine.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::Session session(model);
//   mete::Tensor input(mete::DType::kF32, model.inputs()[0].shape);  // zeros; mete/image.h makes one of a
//                                                                    picture
//   std::vector<mete::Tensor> out = session.Run({input});
//
// A session runs as `mete run` does: on all cores that this process may use, with kernels that were measured
// once on this machine and whose times are kept in CacheFolder() (mete/device.h). This one is made at once,
// from estimates:
//
//   mete::Session estimated(model, {.threads = 1, .tune = false});
//
// Everything that can be wrong with a model, a plan or a machine throws mete::Error in Load() or in the
// Session's constructor; Run() throws for inputs that do not fit, for data-dependent errors (an index
// out of range) and for cancellation. A Model or Session that is empty, because it was made by default or
// moved from, throws FAILED_PRECONDITION whatever it is asked.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mete/device.h"
#include "mete/error.h"
#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

struct LoadOptions {
  // The shapes of inputs whose dimensions the file leaves open, by the input's name: {"ids", {1, 128}}. The
  // name "" means the only input. A key may also be the name that the file gives to an open dimension: {"T",
  // {128}}. Load() throws if a shape contradicts the file.
  std::map<std::string, Shape> input_shapes = {};
  // The shapes of the tensors that Run() will get, by the input's name or "". They fill in the dimensions
  // that are still open. A shape that contradicts the file changes nothing here; Run() throws when the tensor
  // comes.
  std::map<std::string, Shape> tensor_shapes = {};
  // the first dimension of each input that is still open; 0: what the file says (Caffe), otherwise 1
  int64_t batch = 0;
  // Caffe: the .caffemodel; empty: the prototxt's name with that ending
  std::string weights = {};
  bool optimize = true;                           // false: only constant folding and shape inference
  std::vector<std::string> disabled_passes = {};  // names as in PassNames(); Error where one is unknown
};

// The names of all optimising passes, in the order in which they run.
std::vector<std::string> PassNames();

// A graph input or output as the caller sees it: in the model file's own dimension order.
struct Port {
  std::string name;
  DType type = DType::kUnknown;  // kUnknown: known only at run time
  Shape shape = Shape::Unknown();
  Shape declared = Shape::Unknown();  // of an input, as the file has it: -1 where it leaves a dimension open
};

struct PassTime {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
};

struct ModelStats {
  int nodes = 0;
  int64_t parameters = 0;                // elements of constants that nodes read
  int64_t constant_bytes = 0;            // and their bytes
  int64_t flops = 0;                     // of convolutions and matrix products, a multiply-add counted as 2
  std::map<std::string, int> operators;  // nodes by operator
  std::vector<PassTime> passes;
};

// An immutable, loaded and optimised model. Copies share. Safe to use from several threads.
class Model {
 public:
  // ONNX (.onnx) or Caffe (.prototxt, with its .caffemodel).
  static Model Load(const std::string& path, const LoadOptions& options = {});

  const std::string& name() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const std::vector<std::string>& notes() const;  // what Load() assumed, e.g. for open dimensions
  const ModelStats& stats() const;
  // what the file says of itself: "producer", "version", and its own keys
  const std::map<std::string, std::string>& metadata() const;

  std::string Text() const;  // a line a node
  std::string Dot() const;   // Graphviz

  Model() = default;  // empty, to be assigned to

 private:
  friend struct ModelInternals;  // the library's own way in
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const;

  std::shared_ptr<const Impl> impl_;
};

// Where the time of one run went. Times are nanoseconds since the run's start. An event named "[wait]" lies
// inside of its node's event, at the end: the thread has computed its blocks of the node and waits for the
// other threads. The tables count it apart from the node.
struct TraceEvent {
  std::string name;  // the node's, or "[wait]"
  // the node's operator; for a "[wait]" the name of the node that the thread waits for
  std::string op;
  int worker = 0;  // 0: the thread that called Run(), which computes a part of every node
  int64_t start_ns = 0, end_ns = 0;
  int64_t flops = 0;
  bool layout = false;  // only changes the order of dimensions, for the kernels behind it
  // inputs and outputs together, with weights as the model stores them; 0: not known before the run
  int64_t bytes = 0;

  bool waits() const { return name == "[wait]"; }
};

struct Trace {
  std::vector<TraceEvent> events;  // node after node; of a node the calling thread's first
  int64_t total_ns = 0;
  std::string process;             // what ran, for a timeline: the model's name
  std::vector<std::string> lanes;  // and a name for each worker: "thread 0, core 4"

  // Tables of the calling thread's time. `columns` is the width of the widest line in characters; 0: no
  // limit.
  std::string Table(int rows = 0, int columns = 0) const;  // a row a node, the most expensive first; 0: all
  // a row an operator, with [wait] [transfer] [layout] [other]
  std::string TableByOperator(int columns = 0) const;
  // For chrome://tracing and Perfetto: one process, a lane for each worker, and an arrow to each wait from
  // the worker that ended it.
  std::string ChromeJson() const;
  // Keeps for each node the shorter time of this trace and of `other`, which must come from the same session.
  // Only events of the calling thread stay, and no waits.
  void KeepLeast(const Trace& other);
};

// Set from any thread to stop a run between two steps; the run then throws CANCELLED.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

struct SessionOptions {
  int threads = 0;              // 0: one for every core this process may use
  std::vector<int> cores = {};  // CPU numbers to pin the threads to, in order; empty: not pinned
  // How the blocks of a step reach the threads. "adaptive": in proportion to the speed that each thread
  // shows. "equal": equal slices. For comparisons: "ratio" (half a slice for slow cores), "asymo" and "sani"
  // (after the two papers of these names).
  std::string policy = "adaptive";
  // Emulated speeds of the threads, 0.01 to 1, one for each of `cores`: at 0.5 a block takes twice as long.
  // For experiments; empty: no thread is slowed. Not with `reference`.
  std::vector<double> speeds = {};
  bool reference = false;  // force the reference kernels
  // a plan from PlanJson(), which replaces all options above except `reference`; empty: plan now
  std::string plan_json = {};
  // The session measures which kernel is the fastest for each node, instead of estimating it: the first
  // session of a model takes some seconds to make, and its results may differ in the last bits from those on
  // another machine. Times are kept in a file in the folder `tuning_cache` for the next session; empty:
  // nowhere. Notes() says where they cannot be.
  bool tune = true;
  std::string tuning_cache = CacheFolder();
  // The folder in which `mete profile` keeps a profile of this machine. The planner takes its times to decide
  // how many threads take part in each step; without a profile all threads do. A profile of another machine,
  // of older kernels or a damaged one is refused, and Notes() says so. Only the policy `adaptive` uses it.
  std::string profile_cache = CacheFolder();
  // A folder (CacheFolder() in mete/device.h is the user's; it is made as needed) in which weights in kernel
  // order are kept and mapped on the next start instead of packed again; empty: none. A file for each tensor,
  // weights/<digest>.packed, found by a digest of the model's weights, the kernel and the library's packing
  // code, and checked before it is used. Nothing fails because of it: damaged files are written again, a
  // folder that cannot be written to is done without, and Explain() tells. Files are never removed.
  std::string packed_cache = {};
  // The Session's constructor calls this function after it has prepared a node, on its own thread: `done`
  // nodes of the model's `all` nodes are prepared.
  std::function<void(int done, int all)> progress = {};

  // Options of a session that chooses kernels by estimate, so that it is made at once, is the same on each
  // start, and touches no files.
  static SessionOptions Estimated(int threads = 1);
};

struct SessionStats {
  int64_t arena_bytes = 0;   // activations, after sharing
  int64_t values_bytes = 0;  // activations, had none shared
  int64_t packed_bytes = 0;  // weights in kernel order
  int64_t mapped_bytes = 0;  // of these, mapped from files in packed_cache
  double prepare_ms = 0;
  int threads = 1;             // as planned, like what follows
  std::vector<int> cores;      // the fastest first
  std::vector<double> speeds;  // emulated
  std::string policy;
  // as ModelStats::flops, by the kernels that were chosen: Winograd's need fewer multiplications
  int64_t computed_flops = 0;
};

// How one node is computed.
struct StepInfo {
  std::string node, op;
  std::string processor, policy;
  std::string kernel;  // "conv_1x1_f32 avx512", "reference", "view"
  std::string why;     // this one, and what the others took
  int threads = 1;
  int64_t ns = 0;                // of a trace; 0: not in it
  int64_t flops = 0, bytes = 0;  // as in TraceEvent
  int64_t computed_flops = 0;    // by this kernel; fewer than `flops` where it is Winograd's
};

struct RunOptions {
  const CancelToken* cancel = nullptr;
  Trace* trace = nullptr;  // filled; tracing costs two clock reads a step
  // Whether the calling thread computes the whole run alone. kWhereSooner: if that takes less time, which the
  // policy "adaptive" tries now and then on models whose threads gain little. kNever: each step has the
  // threads of the plan. kAlways: for comparisons.
  enum class Alone { kWhereSooner, kNever, kAlways };
  Alone alone = Alone::kWhereSooner;
};

// A model made ready to run on this machine. Safe to call from several threads: runs of one session wait for
// each other; make a session a thread to run side by side.
class Session {
 public:
  Session();  // empty, to be assigned to
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Inputs and outputs in the model's order. Allocates the outputs.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options = {});
  std::vector<Tensor> Run(std::initializer_list<Tensor> inputs, const RunOptions& options = {});

  // The same into the caller's memory: `outputs` must have the ports' types and shapes (which must be
  // known). Allocates nothing after the first run where every shape of the model is known.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options = {});

  // Which kernel and which threads compute each node, and why: one row for each node. With a trace of this
  // session, and the limits that MeasureLimits() of mete/device.h returns, a row also has the node's speed as
  // a share of what the machine can do. `columns` is the width of the widest line in characters; 0: no limit.
  std::string Explain(const Trace& trace = {}, const DeviceLimits& limits = {}, int columns = 0) const;
  // the same as values, in the order in which they run
  std::vector<StepInfo> Steps(const Trace& trace = {}) const;
  std::string PlanJson() const;
  // Where the session differs from the options: cores to which no thread could be pinned, a cache folder that
  // cannot be written.
  std::vector<std::string> Notes() const;
  const SessionStats& stats() const;

 private:
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete
