// mete inspect: describes a model, and what Mete makes of it.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "commands.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "model_flags.h"
#include "runner.h"
#include "terminal.h"

namespace mete::cli {
namespace {

struct InspectFlags {
  ModelFlags model;
  bool text = false;
  bool dot = false;
  bool memory = false;
};

// Returns the shape that the file gives to a port with open dimensions, "Nx3x?x?"; empty: it has none.
std::string OpenText(const Port& port) {
  const Shape& declared = port.declared;
  std::string text;
  bool open = false;
  for (int i = 0; i < declared.rank(); ++i) {
    const std::string name = size_t(i) < port.dims.size() ? port.dims[size_t(i)] : "";
    open |= declared[i] < 0;
    text += i == 0 ? "" : "x";
    text += declared[i] >= 0 ? std::to_string(declared[i]) : name.empty() ? "?" : name;
  }
  return open ? "in the file " + text : "";
}

// "0.0078125 * (q - 128)"; empty: the elements are the numbers themselves.
std::string ScaleText(const Port& port) {
  if (!port.scale) return "";
  const int64_t zero = port.scale->zero_point;
  return fmt::format("{} * (q {} {})", port.scale->scale, zero < 0 ? '+' : '-', std::abs(zero));
}

void PrintPorts(const char* title, const std::vector<Port>& ports) {
  Rows rows;
  for (const Port& p : ports)
    rows.push_back({p.name, Name(p.type), ToString(p.shape), OpenText(p), ScaleText(p)});
  fmt::print("\n{}\n{}", title, FormatTable(rows, "lllll", "  "));
}

// Keys and values of the file may hold anything: in the text they have one line each.
void PrintFile(const FileInfo& file) {
  std::string sets;
  for (const auto& [domain, version] : file.opsets)
    sets += fmt::format("{}{} {}", sets.empty() ? ", operator sets " : ", ", Printable(domain), version);
  PrintText(fmt::format("format: {}{}", file.format, sets));
  if (!file.producer.empty())
    PrintText(fmt::format("producer: {} {}", Printable(file.producer), Printable(file.producer_version)));
  if (!file.domain.empty() || file.version != 0)
    PrintText(fmt::format("model: version {} of '{}'", file.version, Printable(file.domain)));
  if (!file.description.empty()) PrintText(fmt::format("description: {}", Printable(file.description)));
  if (!file.graph_description.empty()) PrintText(fmt::format("graph: {}", Printable(file.graph_description)));
  for (const auto& [key, value] : file.custom)
    PrintText(fmt::format("key '{}': {}", Printable(key), Printable(value)));
}

Json FileJson(const FileInfo& file) {
  return {{"format", file.format},
          {"opsets", file.opsets},
          {"producer", file.producer},
          {"producer_version", file.producer_version},
          {"domain", file.domain},
          {"version", file.version},
          {"description", file.description},
          {"graph_description", file.graph_description},
          {"custom", file.custom}};
}

void PrintSummary(const Model& model, const ModelFlags& flags) {
  const ModelStats& stats = model.stats();
  const Style style = StyleOf(1);
  PrintText(fmt::format("{}{}{}: {}", style.bold, flags.model, style.reset, model.name()));
  PrintText(fmt::format("{:.3f} million parameters ({}), {:.3f} GFLOP, {} nodes",
                        double(stats.parameters) * 1e-6, FormatBytes(stats.constant_bytes),
                        double(stats.flops) * 1e-9, stats.nodes));
  PrintFile(model.file());
  PrintPorts("inputs", model.inputs());
  PrintPorts("outputs", model.outputs());
  Rows operators, passes{{"pass", "ms", "nodes before", "after"}};
  for (const auto& [op, count] : stats.operators) operators.push_back({op, std::to_string(count)});
  for (const PassTime& p : stats.passes)
    passes.push_back(
        {p.name, fmt::format("{:.2f}", p.ms), std::to_string(p.nodes_before), std::to_string(p.nodes_after)});
  fmt::print("\nnodes by operator\n{}\n{}", FormatTable(operators, "lr", "  "),
             FormatTable(passes, "lrrr", "  "));
}

Json SummaryJson(const Model& model, const ModelFlags& flags) {
  const ModelStats& stats = model.stats();
  Json json{{"model", flags.model},
            {"name", model.name()},
            {"inputs", PortsJson(model.inputs())},
            {"outputs", PortsJson(model.outputs())},
            {"parameters", stats.parameters},
            {"constant_bytes", stats.constant_bytes},
            {"gflop", double(stats.flops) * 1e-9},
            {"nodes", stats.nodes},
            {"operators", stats.operators},
            {"metadata", model.metadata()},
            {"file", FileJson(model.file())},
            {"passes", Json::array()}};
  for (const PassTime& p : stats.passes)
    json["passes"].push_back(
        {{"name", p.name}, {"ms", p.ms}, {"nodes_before", p.nodes_before}, {"nodes_after", p.nodes_after}});
  return json;
}

void ReportMemory(const SessionStats& stats, bool to_json, Json& json) {
  json["memory"] = {{"arena_bytes", stats.arena_bytes},
                    {"values_bytes", stats.values_bytes},
                    {"packed_bytes", stats.packed_bytes},
                    {"mapped_bytes", stats.mapped_bytes}};
  if (to_json) return;
  const std::string unshared = fmt::format("({} had none shared)", FormatBytes(stats.values_bytes));
  const Rows rows{{"activations", FormatBytes(stats.arena_bytes), unshared},
                  {"packed weights", FormatBytes(stats.packed_bytes), ""}};
  fmt::print("\nmemory\n{}", FormatTable(rows, "lrw", "  "));
}

void ReportSession(const Model& model, const InspectFlags& flags, const Context& context, Json& json) {
  const ModelFlags& f = flags.model;
  if (!flags.memory && !f.explain && !f.traced() && f.plan.empty() && f.save_plan.empty()) return;
  PutBackLeftFrequencies(context);
  if (f.explain && !context.json) fmt::print("\n");
  Session session = MakeSession(model, f, context);
  Settle(session, context);
  if (flags.memory) ReportMemory(session.stats(), context.json, json);
  if (!f.explain && !f.traced()) return;
  std::vector<Tensor> inputs(model.inputs().size());
  FillRandom(model, 1, inputs);
  Runner runner(model, session, std::move(inputs), context);
  runner.RunMs();  // the first run touches memory for the first time
  ReportPlan(
      session, f, context, [&](Trace* trace) { runner.RunMs(trace); }, json);
  Trace trace;
  if (f.traced()) runner.RunMs(&trace);
  ReportTrace(trace, f, context, json);
}

void Inspect(const InspectFlags& flags, const Context& context) {
  CheckCores(flags.model);
  const Model model = LoadModel(flags.model, context);
  if (!context.json && (flags.text || flags.dot)) {
    fmt::print("{}", flags.text ? model.Text() : model.Dot());
    return;
  }
  Json json = SummaryJson(model, flags.model);
  json["notes"] = model.notes();
  if (flags.text) json["text"] = model.Text();
  if (flags.dot) json["dot"] = model.Dot();
  if (!context.json) PrintSummary(model, flags.model);
  ReportSession(model, flags, context, json);
  if (context.json) PrintJson(json);
}

}  // namespace

void AddInspect(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("inspect", "print what a model is and what is made of it");
  auto flags = std::make_shared<InspectFlags>();
  AddModelFlags(*command, flags->model);
  auto* text = command->add_flag("--text", flags->text, "only the graph, a line a node")->group("Report");
  command->add_flag("--dot", flags->dot, "only the graph, for Graphviz")->excludes(text)->group("Report");
  command->add_flag("--memory", flags->memory, "also how much memory a session takes")->group("Report");
  AddJsonFlag(*command, context);
  command->footer(
      "Examples:\n"
      "  mete inspect squeezenet.onnx --memory\n"
      "  mete inspect net.onnx --dot | dot -Tsvg -o net.svg\n"
      "  mete inspect net.onnx --no-optimize --text");
  command->callback([flags, &context] { context.command = [flags, &context] { Inspect(*flags, context); }; });
}

}  // namespace mete::cli
