// What a run tells of itself, and how it is stopped.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "mete/engine.h"

namespace mete::python {

namespace nb = nanobind;

void BindTraces(nb::module_& module) {
  nb::class_<TraceEvent>(module, "TraceEvent", "A part of the time of one run, on one thread.")
      .def_ro("name", &TraceEvent::name, "the node's name, or \"[wait]\"")
      .def_ro("op", &TraceEvent::op, "the node's operator; of a wait, the node that the thread waits for")
      .def_ro("worker", &TraceEvent::worker, "the thread; 0 is the one that called run()")
      .def_ro("start_ns", &TraceEvent::start_ns, "nanoseconds since the start of the run")
      .def_ro("end_ns", &TraceEvent::end_ns, "nanoseconds since the start of the run")
      .def_ro("flops", &TraceEvent::flops, "a multiply-add counts as 2")
      .def_ro("bytes", &TraceEvent::bytes, "of inputs, outputs and weights; 0: unknown before the run")
      .def_ro("layout", &TraceEvent::layout, "whether the node only changes the order of dimensions")
      .def_prop_ro("waits", &TraceEvent::waits, "whether the thread waits for other threads")
      .def("__repr__", [](const TraceEvent& event) {
        return "<TraceEvent " + event.op + " '" + event.name + "' thread " + std::to_string(event.worker) +
               ", " + std::to_string((event.end_ns - event.start_ns) / 1000) + " us>";
      });

  nb::class_<Trace>(module, "Trace", "The times of one run: pass it to Session.run(), which fills it.")
      .def(nb::init<>())
      .def_prop_ro(
          "events", [](const Trace& trace) { return trace.events; },
          "a list of TraceEvent, in the order of the nodes")
      .def_ro("lanes", &Trace::lanes, "the name of each thread")
      .def_prop_ro(
          "total_ms", [](const Trace& trace) { return double(trace.total_ns) / 1e6; },
          "milliseconds of the run")
      .def("table", &Trace::Table, nb::arg("rows") = 0, nb::arg("columns") = 0,
           "Return a table with a row for each node, the most expensive first; `rows` 0 means all.")
      .def("table_by_operator", &Trace::TableByOperator, nb::arg("columns") = 0,
           "Return a table with a row for each operator.")
      .def("chrome_json", &Trace::ChromeJson, "Return a timeline for Perfetto and chrome://tracing.")
      .def("__str__", [](const Trace& trace) { return trace.Table(); });

  nb::class_<CancelToken>(
      module, "CancelToken",
      "Stops a run between two steps: any thread may call cancel(), and the run then raises "
      "mete.Cancelled.")
      .def(nb::init<>())
      .def("cancel", &CancelToken::Cancel, "Stop the runs that have this token.")
      .def_prop_ro("cancelled", &CancelToken::cancelled);
}

}  // namespace mete::python
