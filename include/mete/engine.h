// The engine: load a model, make a session, run it.
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::Session session(model, {.threads = 2});
//   std::vector<mete::Tensor> out = session.Run({image});
//
// Everything that can be wrong with a model, a plan or a machine throws mete::Error in Load() or in the
// Session's constructor; Run() throws for inputs that do not fit, for data-dependent errors (an index
// out of range) and for cancellation.
#pragma once

#include <atomic>
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
  std::map<std::string, Shape> input_shapes;  // by input name; needed only where the file leaves dimensions open
  std::string weights;                        // Caffe: the .caffemodel; empty: the prototxt's name with that ending
  bool optimize = true;                       // false: only constant folding and shape inference
  std::vector<std::string> disabled_passes;   // names as in PassNames(); Error where one is unknown
};

// The names of all optimising passes, in the order in which they run.
std::vector<std::string> PassNames();

// A graph input or output as the caller sees it: in the model file's own dimension order.
struct Port {
  std::string name;
  DType type = DType::kUnknown;     // kUnknown: known only at run time
  Shape shape = Shape::Unknown();
};

struct PassTime {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
};

struct ModelStats {
  int nodes = 0;
  int64_t parameters = 0;      // elements of constants that nodes read
  int64_t constant_bytes = 0;  // and their bytes
  int64_t flops = 0;           // of convolutions and matrix products, a multiply-add counted as 2
  std::map<std::string, int> operators;  // nodes by operator
  std::vector<PassTime> passes;
};

// An immutable, loaded and optimised model. Copies share. Safe to use from several threads. A default-made one
// is only there to be assigned to.
class Model {
 public:
  // ONNX (.onnx) or Caffe (.prototxt, with its .caffemodel).
  static Model Load(const std::string& path, const LoadOptions& options = {});

  const std::string& name() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const std::vector<std::string>& notes() const;  // what Load() assumed, e.g. for open dimensions
  const ModelStats& stats() const;

  std::string Text() const;  // a line a node
  std::string Dot() const;   // Graphviz

  struct Impl;
  Model() = default;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Where the time of one run went. Times are nanoseconds since the run's start; a "[wait]" lies inside its node
// and is counted apart from it in the tables.
struct TraceEvent {
  std::string name;      // the node's, or "[wait]"
  std::string op;         // the node's operator; of a "[wait]" the node that was waited for
  int worker = 0;        // 0: the thread that called Run()
  int64_t start_ns = 0, end_ns = 0;
  int64_t flops = 0;
  bool layout = false;   // only changes the order of dimensions, for the kernels behind it
  int64_t bytes = 0;     // of its inputs and outputs together, weights as they lie in the model; 0: not known beforehand
};

struct Trace {
  std::vector<TraceEvent> events;
  int64_t total_ns = 0;
  std::string Table(int rows = 0) const;  // a row a node, the most expensive first; 0: all
  std::string TableByOperator() const;    // a row an operator, with [wait] [transfer] [layout] [other]
  std::string ChromeJson() const;         // for chrome://tracing and Perfetto
  void KeepLeast(const Trace& other);     // of each node the shorter of both times; `other` is of the same session. Drops the waits
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
  int threads = 1;             // 0: one for every core this process may use
  std::vector<int> cores;      // CPU numbers to pin the threads to, in order; empty: not pinned
  // How the work of a step reaches the threads: "adaptive", in proportion to the speed that each shows; "equal" slices; or, to compare
  // with, "ratio" (half for slow cores), "asymo" and "sani" (as two papers have it).
  std::string policy = "adaptive";
  // Emulated speeds of the threads, 0.01 to 1, one for each of `cores`: what each computes of a divided step takes as much longer. For
  // experiments; empty: as they are. Not with `reference`.
  std::vector<double> speeds;
  bool reference = false;      // force the reference kernels
  std::string plan_json;       // a plan as PlanJson() gives it, which says all of the above but `reference`; empty: plan now
  // Measure at prepare which way to compute a node is the fastest, instead of estimating: the session takes longer to make, and its
  // results may differ in the last bits from those on another machine. Times are kept in a file in the folder `tuning_cache`
  // (CacheFolder() in mete/device.h is the user's) for the next session; empty: nowhere.
  bool tune = false;
  std::string tuning_cache;
  // A folder (CacheFolder() in mete/device.h is the user's) with a profile of this machine, as `mete profile` keeps it: by its times the
  // plan says how many of the threads take part in each step. Empty, or none there: all do. One that does not serve (of another machine,
  // of older kernels, damaged) is refused, and Notes() says so. Only for the policy `adaptive`.
  std::string profile_cache;
  // A folder (CacheFolder() in mete/device.h is the user's; it is made as needed) in which weights in kernel order are kept and mapped
  // on the next start instead of packed again; empty: none. A file for each tensor, weights/<digest>.packed, found by a digest of the
  // model's weights, the kernel and the library's packing code, and checked before it is used. Nothing fails because of it: damaged
  // files are written again, a folder that cannot be written to is done without, and Explain() tells. Files are never removed.
  std::string packed_cache;
};

struct SessionStats {
  int64_t arena_bytes = 0;     // activations, after sharing
  int64_t values_bytes = 0;    // activations, had none shared
  int64_t packed_bytes = 0;    // weights in kernel order
  int64_t mapped_bytes = 0;    // of these, mapped from files in packed_cache
  double prepare_ms = 0;
  int threads = 1;             // as planned, like what follows
  std::vector<int> cores;      // the fastest first
  std::vector<double> speeds;  // emulated
  std::string policy;
};

// How one node is computed.
struct StepInfo {
  std::string node, op;
  std::string processor, policy;
  std::string kernel;          // "conv_1x1_f32 avx512", "reference", "view"
  std::string why;             // this one, and what the others took
  int threads = 1;
  int64_t ns = 0;              // of a trace; 0: not in it
  int64_t flops = 0, bytes = 0;  // as in TraceEvent
};

struct RunOptions {
  const CancelToken* cancel = nullptr;
  Trace* trace = nullptr;      // filled; tracing costs two clock reads a step
  // Whether the calling thread computes all of the run alone: where that is sooner, which is tried now and then where threads gain little
  // (policy "adaptive"); never, so that the steps are as planned; always.
  enum class Alone { kWhereSooner, kNever, kAlways };
  Alone alone = Alone::kWhereSooner;
};

// A model made ready to run on this machine; a moved-from one may only be assigned to or destroyed. Safe to call from several threads: runs of one session wait
// for each other; make a session a thread to run side by side.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Inputs and outputs in the model's order. Allocates the outputs.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options = {});

  // The same into the caller's memory: `outputs` must have the ports' types and shapes (which must be
  // known). Allocates nothing after the first run where every shape of the model is known.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options = {});

  // Who does what, with which kernel, and why: a row a node. With a trace of this session (and the machine's limits, as mete/device.h
  // measures them) also how fast each was, as a share of what the machine can do.
  std::string Explain(const Trace& trace = {}, const DeviceLimits& limits = {}) const;
  std::vector<StepInfo> Steps(const Trace& trace = {}) const;  // the same as values, in the order in which they run
  std::string PlanJson() const;
  std::vector<std::string> Notes() const;  // what is not as it was asked for, so far: cores that threads could not be pinned to
  const SessionStats& stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete
