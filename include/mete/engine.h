// The engine: load a model, make a session, run it.
//
//   #include "mete/engine.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::Session session(model);
//   // a tensor of zeros; mete/image.h makes a tensor from a picture
//   mete::Tensor input(mete::DType::kF32, model.inputs()[0].shape);
//   std::vector<mete::Tensor> out = session.Run({input});
//
// A session runs as `mete run` does: on all cores that this process may use. It answers first: its kernels
// are chosen by estimates, or by times that are kept in CacheFolder() (mete/device.h). Kernels without such a
// time are measured between the first runs, in a tenth of their time, until the session has settled. A
// session that shall be as fast as it can from its first run on, or whose answers shall have the same bits in
// each run:
//
//   mete::Session measured(model, {.tune = mete::Tune::kBefore});
//
// A session takes tensors of any shape that the model's file allows: a dimension that the file leaves open
// (Port::declared) may have another size in each run. The session plans for each shape once and keeps the
// last SessionOptions::kept_shapes plans, all of which share the packed weights.
//
// Load() and the Session's constructor throw mete::Error for every error in a model, a plan or a machine.
// Run() throws for inputs that do not fit, for data-dependent errors (an index out of range) and for
// cancellation. All functions of an empty Model or Session (default-constructed or moved from) throw
// FAILED_PRECONDITION.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
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
  // that are still open. A shape that contradicts the file is ignored here; Run() throws when it gets the
  // tensor.
  std::map<std::string, Shape> tensor_shapes = {};
  // the first dimension of each input, if it is still open; 0: the file's value (Caffe), otherwise 1
  int64_t batch = 0;
  // Caffe: the .caffemodel; empty: the prototxt's name with that ending
  std::string weights = {};
  bool optimize = true;  // false: only constant folding and shape inference
  // Networks with QuantizeLinear. False: every convolution between quantized values has exact sums of
  // integers. True: convolutions that ONNX Runtime's default optimisations on x86 leave in floats are summed
  // in its order, for comparisons with it; they are slower.
  bool onnxruntime_sums = false;
  // "f32", or what kernels may do to the operands of products where that takes less time. "bf16": both
  // operands of convolutions and matrix products are rounded to bf16, a relative error of up to 2^-8 for
  // each. "f16": the same with f16, up to 2^-11 or, for magnitudes below 2^-14, 2^-25; a product whose
  // weights exceed 65504 stays in f32. Without an instruction for f16 only weights are rounded. "w8", "w4":
  // constant weights of matrix products of one row, which wait for their weights, are rounded to 8 or 4 bits,
  // an error of up to 1/254 or 1/14 of the largest of 64 neighbouring weights. Sums and all values between
  // nodes are f32. Explain() names each node's kernel. "auto": each product has the precision of these in
  // which this processor is the soonest, and a convolution of bytes sums in f32 where that is sooner, as far
  // as outputs stay within `error_bound` of those without it on `samples`; Model::precision() says which.
  std::string precision = "f32";
  // "auto" only: the largest difference from the outputs of "f32", as a share of the largest of them
  double error_bound = 0.01;
  // "auto" only: inputs with which the difference is measured, each in the order of the model's inputs;
  // empty: inputs are made up, and Model::precision() says so
  std::vector<std::vector<Tensor>> samples = {};
  std::vector<std::string> disabled_passes = {};  // names as in PassNames(); Error if a name is unknown
};

// The names of all optimising passes, in the order in which they run.
std::vector<std::string> PassNames();

// How integers of 8 or 16 bits stand for numbers: number = scale * (integer - zero_point).
struct PortScale {
  float scale = 1;
  int64_t zero_point = 0;
};

// A graph input or output as the caller sees it: in the model file's own dimension order.
struct Port {
  std::string name;
  DType type = DType::kUnknown;  // kUnknown: known only at run time
  Shape shape = Shape::Unknown();
  Shape declared = Shape::Unknown();  // for an input: the file's shape, with -1 for open dimensions
  // For an input: the names that the file gives to open dimensions, one for each dimension; "" for others.
  // Dimensions of one name have one size in a run.
  std::vector<std::string> dims = {};
  // What the integers of this port stand for, where the file says so (TensorFlow Lite).
  std::optional<PortScale> scale = std::nullopt;
};

// Returns what the elements of a port's tensor stand for: scale * (integer - zero_point) as f32, or the
// tensor itself where the port has no scale.
Tensor NumbersOf(const Port& port, const Tensor& tensor);
std::vector<Tensor> NumbersOf(std::span<const Port> ports, std::span<const Tensor> tensors);

// What a model's file says about itself. The texts are as they stand in the file: they may hold any bytes.
struct FileInfo {
  std::string format;  // "ONNX", "TensorFlow Lite" or "Caffe"
  // the operator sets that the model imports, by domain: {"ai.onnx", 17}; empty for formats without them
  std::map<std::string, int64_t> opsets = {};
  std::string producer = {}, producer_version = {};  // the program that wrote the file, and its version
  std::string description = {};
  // ONNX: the namespace and the version that its author gives the model, and what the author says of the
  // graph
  std::string domain = {};
  int64_t version = 0;
  std::string graph_description = {};
  // the keys that the model's author has added; none of them is Mete's, whatever its name is
  std::map<std::string, std::string> custom = {};
};

// A model in memory, for Model::LoadMemory().
struct MemoryModel {
  // an ONNX model, a TensorFlow Lite model, or the text of a Caffe network (.prototxt)
  std::span<const std::byte> bytes;
  std::string name = "model";               // names the model in messages, as a file's name does
  std::span<const std::byte> weights = {};  // Caffe: the bytes of the .caffemodel
  // ONNX: the folder in which files with external data lie; empty: external data is an error
  std::string folder = {};
  // Keeps `bytes` alive, which nobody changes as long as a copy of the owner exists: the model uses weights
  // where they lie. Null: LoadMemory() copies `bytes` once, and the caller needs them for the call alone.
  std::shared_ptr<const void> owner = nullptr;
};

struct PassTime {
  std::string name;
  double ms = 0;
  int nodes_before = 0, nodes_after = 0;
};

struct ModelStats {
  int nodes = 0;
  int64_t parameters = 0;                // elements of constants that nodes read
  int64_t constant_bytes = 0;            // bytes of these constants
  int64_t flops = 0;                     // of convolutions and matrix products; a multiply-add counts as 2
  std::map<std::string, int> operators;  // number of nodes by operator
  std::vector<PassTime> passes;
};

// What LoadOptions::precision = "auto" has chosen. The error is that of all nodes of `rounded` together; a
// session may compute some of them as without it, where that takes less time.
struct PrecisionReport {
  double bound = 0;                            // 0: the precision is not "auto"
  double error = 0;                            // measured, as LoadOptions::error_bound
  int samples = 0;                             // inputs of the measurement
  bool made_up = false;                        // whether these are random numbers
  std::map<std::string, std::string> rounded;  // nodes and their precisions: {"conv1", "bf16"}
  std::vector<std::string> kept;               // nodes that would exceed the bound, the largest errors first
};

// An immutable, loaded and optimised model. Copies share one model. Several threads may use it at once.
class Model {
 public:
  // Loads an ONNX model (.onnx), a TensorFlow Lite model (.tflite) or a Caffe model (.prototxt, with its
  // .caffemodel).
  static Model Load(const std::string& path, const LoadOptions& options = {});
  // Loads a model of one of these formats from memory; its content says which. Throws as Load() does, and
  // LoadOptions::weights must be empty: MemoryModel::weights has the bytes of a Caffe network's weights.
  static Model LoadMemory(const MemoryModel& model, const LoadOptions& options = {});

  const std::string& name() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const std::vector<std::string>& notes() const;  // what Load() assumed, e.g. for open dimensions
  const ModelStats& stats() const;
  // metadata of the file as text for people: "producer", "version", and the file's own keys, of which these
  // two hide keys of the same names; file() has all of them
  const std::map<std::string, std::string>& metadata() const;
  const FileInfo& file() const;
  const PrecisionReport& precision() const;

  std::string Text() const;  // one line per node
  std::string Dot() const;   // Graphviz

  Model() = default;  // empty, to be assigned to

 private:
  friend struct ModelInternals;  // access for the library's own code
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const;

  std::shared_ptr<const Impl> impl_;
};

// A part of the time of one run. Times are nanoseconds since the start of the run. An event named "[wait]"
// lies at the end of its node's event and inside of it: the thread has computed its blocks of the node and
// waits for the other threads. The tables count this time separately from the node.
struct TraceEvent {
  std::string name;  // the node's name, or "[wait]"
  // the node's operator; for "[wait]" the name of the node that the thread waits for
  std::string op;
  int worker = 0;  // 0: the thread that called Run(), which computes a part of every node
  int64_t start_ns = 0, end_ns = 0;
  int64_t flops = 0;
  bool layout = false;  // the node only changes the order of dimensions for the kernels after it
  // bytes of inputs and outputs together, with weights as the model stores them; 0: unknown before the run
  int64_t bytes = 0;

  bool waits() const { return name == "[wait]"; }
};

// A figure over the time of a run, for example the clock of a cluster of cores.
struct TraceCounter {
  struct Point {
    int64_t ns = 0;  // since the start of the run; the value holds until the next point
    double value = 0;
  };
  std::string name, unit;  // "clock of cluster0", "MHz"
  std::vector<Point> points;
};

struct Trace {
  std::vector<TraceEvent> events;  // in the order of the nodes; for each node the calling thread's first
  int64_t total_ns = 0;
  std::string process;             // name of the process in a timeline: the model's name
  std::vector<std::string> lanes;  // name of each worker in a timeline: "thread 0, core 4"
  // What timelines show beside the lanes. Run() adds none; Session::Activations() makes one.
  std::vector<TraceCounter> counters;

  // Returns a table of the calling thread's time with one row per node, the most expensive node first. `rows`
  // is the number of rows (0: all), `columns` the width of the widest line in characters (0: no limit).
  std::string Table(int rows = 0, int columns = 0) const;
  // Returns a table with one row per operator, and the rows [wait] [transfer] [layout] [other].
  std::string TableByOperator(int columns = 0) const;
  // Returns a timeline for chrome://tracing and Perfetto: one process, one lane per worker, an arrow to each
  // wait from the worker that ended it, and the counters.
  std::string ChromeJson() const;
  // Keeps for each node the shorter time of this trace and of `other`, which must come from the same session.
  // Only the calling thread's events stay, without the waits.
  void KeepLeast(const Trace& other);
};

// Any thread may call Cancel() to stop a run between two steps; the run then throws CANCELLED.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// When kernels are measured. kBefore: when the session is made, which takes some seconds for the first
// session of a model. kAfter: between the runs, from the second one on, in at most a tenth of their time and
// one step of the measurement more, which is one call of a kernel or the packing of its weights. kNever:
// kernels are chosen by estimates. The parts of a model on a pool (mete/pool.h) take kAfter as kBefore,
// because plans are compared by their times.
enum class Tune { kBefore, kAfter, kNever };

struct SessionOptions {
  int threads = 0;              // 0: one thread for every core that this process may use
  std::vector<int> cores = {};  // CPU numbers to pin the threads to, in order; empty: no pinning
  // How the blocks of a step reach the threads. "adaptive": in proportion to the speed that each thread
  // shows. "equal": equal slices. For comparisons: "ratio" (half a slice for slow cores), "asymo" and "sani"
  // (after the two papers of these names).
  std::string policy = "adaptive";
  // For experiments: emulated speeds of the threads, 0.01 to 1, one for each of `cores`. At 0.5 a block takes
  // twice as long. Empty: no thread is slowed. The option cannot be combined with `reference`.
  std::vector<double> speeds = {};
  bool reference = false;  // use the reference kernels only
  // a plan from PlanJson() for one processor, which replaces all options above except `reference`; empty: the
  // session plans
  std::string plan_json = {};
  // When the session measures which kernel is the fastest for each node. The times are kept in a file in the
  // folder `tuning_cache` for the next session; empty: the times are not kept. If the file cannot be written,
  // Notes() says so. Kernels differ in the last bits of their results: those of two machines may, and with
  // kAfter those of a session's runs until it has settled, never within one run.
  Tune tune = Tune::kAfter;
  std::string tuning_cache = CacheFolder();
  // The folder in which `mete profile` keeps a profile of this machine. The planner uses the profile's times
  // to decide how many threads take part in each step; without a profile all threads do. A profile that is
  // damaged, or of another machine or older kernels, is refused, and Notes() says so. Only the policy
  // `adaptive` uses the profile.
  std::string profile_cache = CacheFolder();
  // A folder for weights in kernel order, for example CacheFolder() (mete/device.h); empty: none. The session
  // creates the folder if needed. The next start maps these files instead of packing the weights again. Each
  // tensor has a file weights/<digest>.packed, whose digest covers the model's weights, the kernel and the
  // library's packing code; the content is checked before it is used. Errors in the cache do not fail the
  // session: a damaged file is written again, a folder that cannot be written is not used, and Explain() says
  // so. The library never removes files.
  std::string packed_cache = {};
  // The number of input shapes, from 1 on, whose plans and kernels the session keeps beside those of the
  // shapes for which the model was loaded. One more shape replaces the least recently used one. A kept shape
  // takes about a kilobyte for each node; the memory for activations and the weights are common to all
  // shapes.
  int kept_shapes = 16;
  // The Session's constructor calls this function, on the constructing thread, each time it has prepared a
  // node: `done` of the model's `all` nodes are prepared.
  std::function<void(int done, int all)> progress = {};

  // Returns the options of a session that chooses kernels by estimates. Its construction takes little time,
  // has the same result on each start, and reads and writes no files.
  static SessionOptions Estimated(int threads = 1);
};

struct SessionStats {
  int64_t arena_bytes = 0;   // memory for activations that share an arena
  int64_t values_bytes = 0;  // memory that the activations would need without sharing
  int64_t packed_bytes = 0;  // weights in kernel order
  int64_t mapped_bytes = 0;  // the part of packed_bytes that is mapped from files in packed_cache
  double prepare_ms = 0;
  int threads = 1;             // this and the following members are those of the plan
  std::vector<int> cores;      // the fastest core first
  std::vector<double> speeds;  // emulated speeds
  std::string policy;
  // ModelStats::flops for the kernels that were chosen: Winograd's kernels need fewer multiplications
  int64_t computed_flops = 0;
};

// What a session has done for the shapes of its inputs.
struct ShapeStats {
  int64_t kept = 1;     // shapes whose plans are kept
  int64_t planned = 1;  // plans that were made, that of the Session's constructor included
  int64_t passes = 0;   // how often the passes ran over the model's graph for shapes other than the loaded
  int64_t arena_bytes = 0;   // memory for activations
  int64_t packed_bytes = 0;  // weights in kernel order
  std::string note = {};     // why the passes run for each new shape; empty where they need not
};

// How one node is computed.
struct StepInfo {
  std::string node, op;
  std::string processor, policy;
  std::string kernel;  // "conv_1x1_f32 avx512", "reference", "view"
  std::string why;     // the reason for this kernel, and the times of the others
  int threads = 1;
  int64_t ns = 0;                // time in the trace; 0: the trace has none
  int64_t flops = 0, bytes = 0;  // as in TraceEvent
  int64_t computed_flops = 0;    // of this kernel: fewer than `flops` for a Winograd kernel
  // that operands of a product may be rounded to: "f32", "bf16", of bytes "i32", "f32"; empty for other nodes
  std::string precision = {};
  double predicted_us = 0;  // by the plan; 0: not predicted
};

// A value in the arena, the memory that activations share. It lies there from the begin of one step to the
// end of another; both are indices into Session::Steps().
struct ArenaValue {
  std::string name;
  int64_t offset = 0, bytes = 0;
  int first_step = 0, last_step = 0;
};

class Pool;  // this and the following two: mete/pool.h
struct PoolOptions;
struct PoolStats;
struct RunReport;
class SessionOnPool;  // the library's own

struct RunOptions {
  const CancelToken* cancel = nullptr;
  Trace* trace = nullptr;  // Run() fills it; tracing costs two clock reads per step
  // Whether the calling thread computes the whole run alone. kWhereSooner: only if that takes less time; the
  // policy "adaptive" tries this from time to time on models whose threads gain little. kNever: each step has
  // the threads of the plan. kAlways: for comparisons. On a pool kAlways means that the home computes the
  // whole model with all of its threads.
  enum class Alone { kWhereSooner, kNever, kAlways };
  Alone alone = Alone::kWhereSooner;
  RunReport* report = nullptr;  // Run() fills it if the session is on a pool
  // A run that is under way at this time ends between two of its steps, as one that is cancelled, and throws
  // DEADLINE_EXCEEDED; so does one that begins later. On a pool only a request that has not begun ends so,
  // unless the home computes it alone. A run without a deadline reads no clock for it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// A model that is prepared to run on this machine. Several threads may call a session: the runs of one
// session wait for each other. To run in parallel, make one session per thread.
class Session {
 public:
  Session();  // an empty session, to be assigned to
  explicit Session(const Model& model, const SessionOptions& options = {});
  // A session on several processors, with the default options or others (mete/pool.h). As many threads as the
  // options have lanes may call Run() at a time. A processor that fails costs its request one retry on the
  // home. Of the functions below Steps(), Arena(), and Run() with a trace, throw UNIMPLEMENTED, because each
  // processor has steps of its own; a cancelled Run() throws CANCELLED before the request begins, not within
  // it.
  Session(const Model& model, const Pool& pool);
  Session(const Model& model, const Pool& pool, const PoolOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Runs the model once. Inputs and outputs are in the model's order. The function allocates the outputs. The
  // inputs may have any sizes in the dimensions that Port::declared leaves open, as far as the model's nodes
  // allow, and have those of Port::shape in the others; on a pool the home alone computes other sizes.
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options = {});
  std::vector<Tensor> Run(std::initializer_list<Tensor> inputs, const RunOptions& options = {});

  // Runs the model once with a tensor for the name of each of its inputs, and returns the outputs that
  // `outputs` names, in its order; all of them, in the model's order, if it is empty. INVALID_ARGUMENT lists
  // all names that the model does not have and all inputs without a tensor. (mete/binding.h: with the
  // caller's memory.)
  std::vector<Tensor> Run(const std::map<std::string, Tensor>& inputs,
                          const std::vector<std::string>& outputs = {}, const RunOptions& options = {});

  // Runs the model once and writes the outputs to the caller's memory. `outputs` must have the types of the
  // ports and the shapes that follow from those of the inputs, which must not depend on data. From the second
  // run with the same shapes on, this function allocates nothing if every shape of the model is known and the
  // session has settled.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options = {});

  const Model& model() const;  // the model that the session runs

  // Returns whether all kernels are chosen for good: later runs compute the same bits from the same inputs. A
  // session with Tune::kAfter settles between its runs, any other one is settled from the start.
  bool settled() const;
  // Measures what is left to measure now, for example before a benchmark. Waits for the run in progress.
  // `pause` is called between two steps, each of which is one call of a kernel or the packing of its weights.
  // It may let other work have the cores for a while, and returns whether it has; the session is not settled
  // if it throws. It must not use this session, whose runs wait meanwhile. On a pool it is not called.
  void Settle(const std::function<bool()>& pause = {});

  // Returns a table with one row per node: the kernel and the threads that compute the node, and the reason.
  // With a trace of this session and the result of MeasureLimits() (mete/device.h), a row also has the node's
  // speed as a share of the machine's best. `columns` is the width of the widest line in characters; 0: no
  // limit.
  std::string Explain(const Trace& trace = {}, const DeviceLimits& limits = {}, int columns = 0) const;
  // Returns the content of this table as values, in the order in which the nodes run.
  std::vector<StepInfo> Steps(const Trace& trace = {}) const;
  // Returns the values in the arena for the shapes for which the model was loaded. Values that are views of
  // others, or replace them in place, have their places and are not listed.
  std::vector<ArenaValue> Arena() const;
  // Returns how many bytes of the arena the values in use have, from the start of each node of the run on.
  // `trace` is one of this session, of a run with the shapes for which the model was loaded.
  TraceCounter Activations(const Trace& trace) const;
  // Returns the plan: the processors and layers of each group, and for a CPU alone the threads of each step.
  std::string PlanText() const;
  std::string PlanJson() const;  // the same, for SessionOptions::plan_json or PoolOptions::plan_json
  // Returns the differences between the session and its options: cores to which no thread could be pinned, a
  // cache folder that cannot be written.
  std::vector<std::string> Notes() const;
  SessionStats stats() const;      // as of now; on a pool prepare_ms alone, of the home
  ShapeStats shape_stats() const;  // as of now; on a pool, of runs with other shapes than the loaded
  PoolStats pool_stats() const;    // FAILED_PRECONDITION if the session is not on a pool

 private:
  friend struct PoolInternals;  // access for the library's own code
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
  std::unique_ptr<SessionOnPool> on_pool_;  // null: on the CPU of this machine, by impl_
};

}  // namespace mete
