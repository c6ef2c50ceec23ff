// Pool: several processors that compute a model together, and plans for them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>

#include "arrays.h"
#include "binding.h"
#include "callbacks.h"
#include "dicts.h"
#include "mete/pool.h"
#ifdef METE_WITH_NETWORK
#include "mete/network.h"
#endif

namespace mete::python {

namespace nb = nanobind;

namespace {

using Progress = std::function<void(const std::string&, int64_t, int64_t)>;

nb::list ProcessorsOf(const Pool& pool) {
  nb::list rows;
  for (const PoolProcessor& processor : pool.processors()) {
    rows.append(DictOf({{"name", nb::cast(processor.name)},
                        {"device", nb::cast(processor.device)},
                        {"address", nb::cast(processor.address)},
                        {"cores", nb::cast(processor.cores)},
                        {"speed", nb::cast(processor.speed)},
                        {"kind", nb::cast(processor.kind)}}));
  }
  return rows;
}

Pool FromFile(nb::handle path) {
#ifdef METE_WITH_NETWORK
  return Pool::FromFile(PathOf(path), OpenNetwork());
#else
  return Pool::FromFile(PathOf(path));
#endif
}

std::string Measure(const Pool& pool, const Model& model, const CancelToken* cancel,
                    const std::optional<Progress>& progress) {
  PoolOptions options;
  options.cancel = cancel;
  if (progress) options.progress = ForAnyThread(*progress);
  nb::gil_scoped_release released;
  return pool.Measure(model, options).json;
}

PoolPlan Plan(const Pool& pool, const Model& model, const std::string& objective,
              const std::string& planner) {
  PoolOptions options;
  options.objective = objective;
  options.planner = planner;
  nb::gil_scoped_release released;
  return pool.Plan(model, options);
}

}  // namespace

void BindPools(nb::module_& module) {
  nb::class_<PoolPlan>(module, "PoolPlan",
                       "A plan of which processor computes what; its times are predictions.")
      .def_ro("summary", &PoolPlan::summary, "\"layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop\"")
      .def_ro("text", &PoolPlan::text, "the summary and a table with a row for each share")
      .def_ro("json", &PoolPlan::json, "for Session(model, pool, plan=...)")
      .def_ro("table", &PoolPlan::table, "a row for each share; the first row names the columns")
      .def_ro("predicted_us", &PoolPlan::predicted_us, "microseconds of a request")
      .def_ro("period_us", &PoolPlan::period_us, "microseconds from one request to the next")
      .def_ro("joules", &PoolPlan::joules, "joules of a request; 0: the pool has no watts")
      .def_ro("objective", &PoolPlan::objective)
      .def("__str__", [](const PoolPlan& plan) { return plan.text; });
  nb::class_<Pool>(
      module, "Pool",
      "Several processors that compute a model together; the first is the home, which has the inputs.")
      .def_static("from_list", Pool::FromList, nb::arg("processors"),
                  "Make a pool of cores of this machine: \"cpu:0,cpu:1\", \"cpu:0-3,cpu:4-5\", \"cpu\".")
      .def_static(
          "from_file", FromFile, nb::arg("path"),
          "Read a pool's description from a TOML file. Workers on the network need a package that was "
          "built with them (METE_WHEEL_NETWORK=ON).")
      .def_static(
          "from_machine",
          [](nb::handle path, const std::string& list) { return Pool::FromMachine(PathOf(path), list); },
          nb::arg("path"), nb::arg("processors"),
          "Make a pool of a board that is not here, by its machine file: it can plan, but not run.")
      .def_prop_ro("name", &Pool::name)
      .def_prop_ro("processors", ProcessorsOf, "a list of dicts: name, device, address, cores, speed, kind")
      .def_prop_ro("is_here", &Pool::is_here, "False: it describes boards that are not here")
      .def("measure_json", Measure, nb::arg("model"), nb::kw_only(), nb::arg("cancel") = nb::none(),
           nb::arg("progress") = nb::none())
      .def("plan", Plan, nb::arg("model"), nb::kw_only(), nb::arg("objective") = "",
           nb::arg("planner") = "dynamic",
           "Plan without running anything; the model must have been measured on the pool.\n\n"
           "objective: \"latency\", \"throughput\" or \"energy\"\n")
      .def("__repr__", [](const Pool& pool) {
        std::string names;
        for (const PoolProcessor& processor : pool.processors())
          names += (names.empty() ? "" : ", ") + processor.name;
        return "<Pool of " + names + ">";
      });
}

}  // namespace mete::python
