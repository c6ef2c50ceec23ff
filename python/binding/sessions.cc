// Session, on the CPU of this machine or on a pool.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "binding.h"
#include "callbacks.h"
#include "dicts.h"
#include "mete/engine.h"
#include "mete/pool.h"

namespace mete::python {

namespace nb = nanobind;

namespace {

// A session that ends without the GIL: its threads may wait for it, to tell something to a function of the
// program.
class SessionFace {
 public:
  explicit SessionFace(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  ~SessionFace() {
    nb::gil_scoped_release released;
    session_.reset();
  }
  SessionFace(const SessionFace&) = delete;
  SessionFace& operator=(const SessionFace&) = delete;
  Session* operator->() const { return session_.get(); }

 private:
  std::unique_ptr<Session> session_;
};

Tune TuneOf(const std::string& name) {
  if (name == "before") return Tune::kBefore;
  if (name == "after") return Tune::kAfter;
  if (name == "never") return Tune::kNever;
  throw Error(Code::kInvalidArgument,
              "[tune] is not known; got '" + name + "', expected 'before', 'after' or 'never'");
}

// The JSON of a plan: None, a text, or an object that has it.
std::string JsonOf(nb::handle plan) {
  if (plan.is_none()) return {};
  return nb::cast<std::string>(nb::isinstance<nb::str>(plan) ? nb::borrow(plan)
                                                             : nb::object(plan.attr("json")));
}

using Progress = std::function<void(int, int)>;

void OnCpu(SessionFace* self, const Model& model, int threads, const std::vector<int>& cores,
           const std::string& policy, const std::vector<double>& speeds, bool reference, nb::handle plan,
           const std::string& tune, nb::handle tuning_cache, nb::handle packed_cache, int kept_shapes,
           const std::optional<Progress>& progress) {
  SessionOptions options;
  options.threads = threads;
  options.cores = cores;
  options.policy = policy;
  options.speeds = speeds;
  options.reference = reference;
  options.plan_json = JsonOf(plan);
  options.tune = TuneOf(tune);
  if (!tuning_cache.is_none()) options.tuning_cache = PathOf(tuning_cache);
  options.packed_cache = PathOf(packed_cache);
  options.kept_shapes = kept_shapes;
  if (progress) options.progress = *progress;
  nb::gil_scoped_release released;
  new (self) SessionFace(std::make_unique<Session>(model, options));
}

using Note = std::function<void(const std::string&)>;

void OnPool(SessionFace* self, const Model& model, const Pool& pool, const std::string& objective,
            const std::string& planner, nb::handle plan, bool keep_plan, int lanes, double deadline_ms,
            const std::string& transfer, const std::string& tune, const std::optional<Note>& note) {
  PoolOptions options;
  options.objective = objective;
  options.planner = planner;
  options.plan_json = JsonOf(plan);
  options.keep_plan = keep_plan;
  options.lanes = lanes;
  options.deadline_ms = deadline_ms;
  options.transfer = transfer;
  options.kernels.tune = TuneOf(tune);
  if (note) options.note = ForAnyThread(*note);
  nb::gil_scoped_release released;
  new (self) SessionFace(std::make_unique<Session>(model, pool, options));
}

std::chrono::steady_clock::time_point DeadlineIn(std::optional<double> seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kLongest = 1e8;  // three years; the clock's integers would overflow after 292
  if (!seconds || *seconds >= kLongest) return Clock::time_point::max();
  if (!(*seconds >= 0))
    throw Error(Code::kInvalidArgument, "[deadline_s] is no time from now on; got " +
                                            std::to_string(*seconds) + ", expected seconds, 0 or more");
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
}

std::string NamesOf(const std::vector<Port>& ports) {
  std::string names;
  for (const Port& port : ports) names += (names.empty() ? "'" : ", '") + port.name + "'";
  return names.empty() ? "none" : names;
}

std::vector<Tensor> TensorsOfDict(const Model& model, const nb::dict& named) {
  std::vector<Tensor> tensors;
  std::string problems;
  for (const Port& port : model.inputs()) {
    const nb::str name(port.name.c_str(), port.name.size());
    if (named.contains(name)) tensors.push_back(TensorOf(named[name], port.name));
    else problems += "[" + port.name + "] the input has no array; got none of this name, expected one\n";
  }
  for (const auto& [key, value] : named) {
    const std::string name = NameOf(key, "inputs");
    const bool known =
        std::ranges::any_of(model.inputs(), [&](const Port& port) { return port.name == name; });
    if (!known)
      problems +=
          "[" + name + "] the model has no input of this name; expected " + NamesOf(model.inputs()) + "\n";
  }
  if (problems.empty()) return tensors;
  problems.pop_back();
  throw Error(Code::kInvalidArgument, problems);
}

// The tensors of a list in the model's order, or of a dict by the names of the inputs.
std::vector<Tensor> InputsOf(const Model& model, nb::handle inputs) {
  if (nb::isinstance<nb::dict>(inputs)) return TensorsOfDict(model, nb::borrow<nb::dict>(inputs));
  // A list is not asked for an attribute that it lacks: the exception within takes microseconds.
  if (!nb::isinstance<nb::list>(inputs) && nb::hasattr(inputs, "dtype"))
    throw Error(Code::kInvalidArgument,
                "[inputs] are not a list; got one array, expected a list of arrays, or a dict");
  std::vector<Tensor> tensors;
  for (nb::handle input : inputs) {
    const size_t i = tensors.size();
    tensors.push_back(TensorOf(input, i < model.inputs().size() ? model.inputs()[i].name : "inputs"));
  }
  return tensors;
}

// The numbers of the outputs that are asked for; all of them for None and for an empty list.
std::vector<size_t> OutputsOf(const Model& model, nb::handle names) {
  std::vector<size_t> numbers;
  const std::vector<Port>& ports = model.outputs();
  if (!names.is_none())
    for (nb::handle name : names) {
      const std::string wanted = NameOf(name, "outputs");
      const auto port = std::ranges::find(ports, wanted, &Port::name);
      if (port == ports.end())
        throw Error(Code::kInvalidArgument,
                    "[" + wanted + "] the model has no output of this name; expected " + NamesOf(ports));
      numbers.push_back(size_t(port - ports.begin()));
    }
  if (numbers.empty())
    for (size_t i = 0; i < ports.size(); ++i) numbers.push_back(i);
  return numbers;
}

RunOptions OptionsOf(Trace* trace, const CancelToken* cancel, std::optional<double> deadline_s) {
  RunOptions options;
  options.trace = trace;
  options.cancel = cancel;
  options.deadline = DeadlineIn(deadline_s);
  return options;
}

// Whether the outputs will have the types and sizes that the model tells: it does, and the inputs have the
// sizes for which it was loaded.
bool HasKnownOutputs(const Model& model, const std::vector<Tensor>& inputs) {
  return std::ranges::equal(inputs, model.inputs(), {}, &Tensor::shape, &Port::shape) &&
         std::ranges::all_of(model.outputs(), [](const Port& port) {
           return port.shape.known() && port.type != DType::kUnknown;
         });
}

void RunOnViews(SessionFace& session, const std::vector<Tensor>& inputs, std::vector<View>& outputs,
                const RunOptions& options) {
  std::vector<ConstView> in;
  for (const Tensor& tensor : inputs) in.push_back(tensor.view());
  WithoutGil([&] { session->Run(in, outputs, options); });
}

nb::list ArraysOf(const std::vector<Tensor>& results, const std::vector<size_t>& numbers) {
  nb::list arrays;
  for (const size_t number : numbers) arrays.append(ArrayOf(results[number]));
  return arrays;
}

// Arrays for the outputs, whose memory the views are.
struct NewOutputs {
  explicit NewOutputs(const std::vector<Port>& ports) {
    for (const Port& port : ports) {
      if (auto made = NewArray(port.type, port.shape)) {
        arrays.push_back(std::move(made->first));
        views.push_back(made->second.view);
        memory.push_back(std::move(made->second));
      } else {
        Tensor tensor(port.type, port.shape);
        arrays.push_back(ArrayOf(tensor));
        views.push_back(tensor.mutable_view());  // which the array keeps alive
      }
    }
  }
  std::vector<nb::object> arrays;
  std::vector<View> views;
  std::vector<WritableArray> memory;
};

nb::list Run(SessionFace& session, nb::handle inputs, nb::handle outputs, Trace* trace,
             const CancelToken* cancel, std::optional<double> deadline_s) {
  const Model& model = session->model();
  const std::vector<Tensor> tensors = InputsOf(model, inputs);
  const std::vector<size_t> numbers = OutputsOf(model, outputs);
  Trace own;  // the caller's may be read by another thread meanwhile
  const RunOptions options = OptionsOf(trace ? &own : nullptr, cancel, deadline_s);
  nb::list arrays;
  if (HasKnownOutputs(model, tensors)) {
    // The run writes into NumPy's memory, in arrays that are made before it: its data replace what Python and
    // NumPy have in the caches, after which making arrays takes microseconds more.
    NewOutputs made(model.outputs());
    RunOnViews(session, tensors, made.views, options);
    for (const size_t number : numbers) arrays.append(made.arrays[number]);
  } else {
    arrays = ArraysOf(WithoutGil([&] { return session->Run(std::span(tensors), options); }), numbers);
  }
  if (trace) *trace = std::move(own);
  return arrays;
}

void RunInto(SessionFace& session, nb::handle inputs, nb::handle outputs, Trace* trace,
             const CancelToken* cancel, std::optional<double> deadline_s) {
  const std::vector<Tensor> tensors = InputsOf(session->model(), inputs);
  std::vector<WritableArray> arrays;
  std::vector<View> out;
  for (nb::handle output : outputs) {
    arrays.push_back(WritableOf(output, "outputs"));
    out.push_back(arrays.back().view);
  }
  Trace own;
  const RunOptions options = OptionsOf(trace ? &own : nullptr, cancel, deadline_s);
  RunOnViews(session, tensors, out, options);
  if (trace) *trace = std::move(own);
}

// A plan as text for people, and as JSON for another session.
struct SessionPlan {
  std::string text, json;
};

nb::dict StatsOf(const SessionFace& session) {
  const SessionStats stats = WithoutGil([&] { return session->stats(); });
  return DictOf({{"arena_bytes", nb::cast(stats.arena_bytes)},
                 {"values_bytes", nb::cast(stats.values_bytes)},
                 {"packed_bytes", nb::cast(stats.packed_bytes)},
                 {"mapped_bytes", nb::cast(stats.mapped_bytes)},
                 {"prepare_ms", nb::cast(stats.prepare_ms)},
                 {"threads", nb::cast(stats.threads)},
                 {"cores", nb::cast(stats.cores)},
                 {"policy", nb::cast(stats.policy)}});
}

nb::dict PoolStatsOf(const SessionFace& session) {
  const PoolStats stats = WithoutGil([&] { return session->pool_stats(); });
  nb::dict values = DictOf({{"requests", nb::cast(stats.requests)},
                            {"retries", nb::cast(stats.retries)},
                            {"plans", nb::cast(stats.plans)},
                            {"lost", nb::cast(stats.lost)},
                            {"plan", nb::cast(stats.plan)},
                            {"predicted_us", nb::cast(stats.predicted_us)},
                            {"usual_us", nb::cast(stats.usual_us)}});
  nb::list parts;
  for (const PoolStats::Part& part : stats.parts) {
    parts.append(DictOf({{"processor", nb::cast(part.processor)},
                         {"compute_us", nb::cast(part.compute_us)},
                         {"bytes", nb::cast(part.bytes)}}));
  }
  values["parts"] = parts;
  return values;
}

nb::list StepsOf(const SessionFace& session, const Trace* trace) {
  const Trace given = trace ? *trace : Trace();
  nb::list rows;
  for (const StepInfo& step : WithoutGil([&] { return session->Steps(given); })) {
    rows.append(DictOf({{"node", nb::cast(step.node)},
                        {"op", nb::cast(step.op)},
                        {"kernel", nb::cast(step.kernel)},
                        {"why", nb::cast(step.why)},
                        {"threads", nb::cast(step.threads)},
                        {"ns", nb::cast(step.ns)},
                        {"flops", nb::cast(step.flops)},
                        {"bytes", nb::cast(step.bytes)},
                        {"precision", nb::cast(step.precision)},
                        {"predicted_us", nb::cast(step.predicted_us)}}));
  }
  return rows;
}

}  // namespace

void BindSessions(nb::module_& module) {
  nb::class_<SessionPlan>(module, "Plan", "The plan that a session uses.")
      .def_ro("text", &SessionPlan::text, "for people")
      .def_ro("json", &SessionPlan::json, "for Session(..., plan=...)")
      .def("__str__", [](const SessionPlan& plan) { return plan.text; });
  nb::class_<SessionFace>(
      module, "Session",
      "A model that is prepared to run. Several threads may call a session: its runs wait for\n"
      "each other, and the GIL is free while one computes.")
      .def("__init__", OnCpu, nb::arg("model"), nb::kw_only(), nb::arg("threads") = 0,
           nb::arg("cores") = std::vector<int>(), nb::arg("policy") = "adaptive",
           nb::arg("speeds") = std::vector<double>(), nb::arg("reference") = false,
           nb::arg("plan") = nb::none(), nb::arg("tune") = "after", nb::arg("tuning_cache") = nb::none(),
           nb::arg("packed_cache") = "", nb::arg("kept_shapes") = 16, nb::arg("progress") = nb::none(),
           "Prepare a model for the CPU of this machine.\n\n"
           "threads: 0: one for each core that this process may use\n"
           "cores: CPU numbers to pin the threads to\n"
           "policy: how blocks reach the threads: \"adaptive\", \"equal\", \"ratio\", \"asymo\", \"sani\"\n"
           "speeds: emulated speeds of the threads, 0.01 to 1, one for each of `cores`\n"
           "reference: True: the reference kernels only\n"
           "plan: of an earlier session, instead of all options above but `reference`\n"
           "tune: \"before\": measure kernels now; \"after\": between the runs; \"never\": by estimates\n"
           "tuning_cache: folder in which measured times are kept; \"\": they are not kept\n"
           "packed_cache: folder for weights in the order of the kernels; \"\": none\n"
           "progress: is called with (nodes that are prepared, all nodes)\n")
      .def("__init__", OnPool, nb::arg("model"), nb::arg("pool"), nb::kw_only(), nb::arg("objective") = "",
           nb::arg("planner") = "dynamic", nb::arg("plan") = nb::none(), nb::arg("keep_plan") = false,
           nb::arg("lanes") = 1, nb::arg("deadline_ms") = 0.0, nb::arg("transfer") = "f32",
           nb::arg("tune") = "after", nb::arg("note") = nb::none(),
           "Prepare a model for the processors of a pool.\n\n"
           "objective: \"latency\", \"throughput\" or \"energy\"\n"
           "plan: a plan for these processors, instead of the planner's\n"
           "keep_plan: True: the plan is used as it is\n"
           "lanes: requests that may be under way at a time\n"
           "deadline_ms: of a request, after which late processors are given up; 0: four times the usual "
           "time\n"
           "transfer: floats on their way between processors: \"f32\", \"f16\" or \"u8\"\n"
           "note: is called with each line that the caller should know: a processor is lost, another plan\n")
      .def("run", Run, nb::arg("inputs"), nb::arg("outputs") = nb::none(), nb::kw_only(),
           nb::arg("trace") = nb::none(), nb::arg("cancel") = nb::none(), nb::arg("deadline_s") = nb::none(),
           "Run the model once and return a list of NumPy arrays.\n\n"
           "inputs: a list of arrays in the model's order, or a dict by name: NumPy arrays, or objects with\n"
           "    DLPack. Dense arrays are not copied.\n"
           "outputs: the names of the outputs to return, in this order; None: all\n"
           "trace: a Trace, which is filled\n"
           "cancel: a CancelToken; the run raises mete.Cancelled once it is cancelled\n"
           "deadline_s: seconds after which the run raises mete.DeadlineExceeded\n")
      .def("run_into", RunInto, nb::arg("inputs"), nb::arg("outputs"), nb::kw_only(),
           nb::arg("trace") = nb::none(), nb::arg("cancel") = nb::none(), nb::arg("deadline_s") = nb::none(),
           "Run the model once and write all outputs to arrays that the caller has, in the model's order.")
      .def_prop_ro(
          "model", [](const SessionFace& session) { return session->model(); }, "the Model that it runs")
      .def_prop_ro(
          "settled",
          [](const SessionFace& session) { return WithoutGil([&] { return session->settled(); }); },
          "whether all kernels are chosen for good: later runs compute the same bits")
      .def(
          "settle", [](const SessionFace& session) { session->Settle(); },
          nb::call_guard<nb::gil_scoped_release>(), "Measure now what is left to measure.")
      .def(
          "explain",
          [](const SessionFace& session, const Trace* trace, int columns) {
            const Trace given = trace ? *trace : Trace();
            return WithoutGil([&] { return session->Explain(given, {}, columns); });
          },
          nb::arg("trace") = nb::none(), nb::arg("columns") = 0,
          "Return a table: the kernel of each node, and why it was chosen.")
      .def("steps", StepsOf, nb::arg("trace") = nb::none(), "Return the same as a list of dicts.")
      .def(
          "count_activations",
          [](const SessionFace& session, Trace& trace) {
            trace.counters.push_back(WithoutGil([&] { return session->Activations(trace); }));
          },
          nb::arg("trace"), "Add the bytes of activations in use over the run to the trace's timeline.")
      .def_prop_ro(
          "plan",
          [](const SessionFace& session) {
            return WithoutGil([&] { return SessionPlan{session->PlanText(), session->PlanJson()}; });
          },
          "the Plan in use: which processor and how many threads compute which layers")
      .def_prop_ro(
          "notes", [](const SessionFace& session) { return WithoutGil([&] { return session->Notes(); }); },
          "the differences between the session and its options")
      .def_prop_ro("stats", StatsOf, "a dict of its memory in bytes, its threads and cores")
      .def_prop_ro("pool_stats", PoolStatsOf,
                   "a dict: the plan in use, requests, retries, losses; on a pool only");
}

}  // namespace mete::python
