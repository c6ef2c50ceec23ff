#include "plan/pool/program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "partition/channels_last.h"
#include "partition/share.h"

namespace mete {
namespace {

// The parts that every processor holds at some point.
using Held = std::vector<std::vector<ValuePart>>;  // by processor, in the order of ProgramStage::holds

IndexRange Common(const IndexRange& a, const IndexRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

IndexRange Moved(const IndexRange& rows, int64_t by) { return {rows.begin - by, rows.end - by}; }

// Returns the piece of `need` that a holder of `held` has: as a part of `held` and as a part of `need`;
// nothing if they have nothing in common. `held` and `need` are normalized parts of a value with this shape.
std::optional<std::pair<Part, Part>> PieceOf(const Part& held, const Part& need, const Shape& shape) {
  Part cut, at;
  if (held.all()) cut = need;
  else if (need.all()) at = held;
  else if (held.axis != need.axis) {
    cut = need;
    at = held;
  } else {
    const IndexRange rows = Common(held.rows, need.rows);
    if (rows.begin >= rows.end) return {};
    cut = Part::Of(held.axis, Moved(rows, held.rows.begin));
    at = Part::Of(held.axis, Moved(rows, need.rows.begin));
  }
  if (!shape.known()) return std::pair{cut, at};
  return std::pair{Normalized(cut, ShapeOf(held, shape)), Normalized(at, ShapeOf(need, shape))};
}

// Returns the part `inner` relative to `outer`, which contains it.
Part Within(const Part& outer, const Part& inner, const Shape& shape) {
  if (outer.all()) return inner;
  return Normalized(Part::Of(inner.axis, Moved(inner.rows, outer.rows.begin)), ShapeOf(outer, shape));
}

class ProgramWriter {
 public:
  ProgramWriter(const Graph& graph, const Plan& plan)
      : graph_(graph),
        plan_(plan),
        layers_(LayersOf(graph)),
        channels_last_(ChannelsLast(graph)),
        programs_(plan.processors.size()),
        held_(plan.processors.size()) {}

  std::vector<Program> Do() {
    if (plan_.groups.empty()) Misfit();
    int layer = plan_.groups.front().first;
    if (layer < 0 || layer > int(layers_.size())) Misfit();
    if (plan_.groups.back().last < layer) Misfit();
    // The caller knows what the plan begins and ends with in plain order.
    for (const ValueId id : InputsOf(graph_, plan_)) channels_last_[size_t(id)] = false;
    for (const ValueId id : OutputsOf(graph_, plan_)) channels_last_[size_t(id)] = false;
    for (const ValueId id : InputsOf(graph_, plan_)) held_[0].push_back({id, Part::All()});
    for (const PlannedGroup& group : plan_.groups) {
      if (group.first != layer || group.last < group.first || group.last > int(layers_.size())) Misfit();
      layer = group.last;
      Write(group);
    }
    Gather();
    return std::move(programs_);
  }

 private:
  [[noreturn]] void Misfit() const {
    Invalid("plan",
            "is not one of this model; got groups that do not follow each other over its {} layers; try "
            "planning again",
            layers_.size());
  }

  // Adds a stage to every processor's program.
  void AddStage() {
    for (Program& program : programs_) program.stages.emplace_back();
  }
  ProgramStage& StageOf(int processor) { return programs_[size_t(processor)].stages.back(); }

  void Write(const PlannedGroup& group) {
    AddStage();
    Held after(programs_.size());
    for (const Share& share : group.shares) {
      if (share.processor < 0 || size_t(share.processor) >= programs_.size()) Misfit();
      WriteShare(group, share, after[size_t(share.processor)]);
    }
    held_ = std::move(after);
  }

  void WriteShare(const PlannedGroup& group, const Share& share, std::vector<ValuePart>& after) {
    const std::vector<int> nodes = NodesOf(layers_, group.first, group.last);
    std::vector<ValuePart> computed, kept;
    for (const ValuePart& output : share.outputs)
      (MadeIn(nodes, output.value) ? computed : kept).push_back(output);
    ProgramStage& stage = StageOf(share.processor);
    std::vector<ValuePart> inputs;
    if (!computed.empty()) {
      ShareGraph made = MakeShareGraph(graph_, nodes, computed);
      inputs = made.parts.inputs;
      stage.graph = std::move(made.graph);
      stage.threads = share.threads;
      PutChannelsLast(stage.graph, AreLast(inputs), AreLast(computed));
    }
    for (auto* list : {&inputs, &computed, &kept})
      for (ValuePart& vp : *list) vp.part = AsItLies(vp);
    WriteNeeds(share.processor, inputs, kept);
    after = computed;
    after.insert(after.end(), kept.begin(), kept.end());
    for (const ValuePart& vp : after) stage.holds.push_back(ShapeOf(vp.part, ShapeFor(vp.value)));
  }

  bool MadeIn(const std::vector<int>& nodes, ValueId id) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](int n) {
      const auto& outputs = graph_.nodes[size_t(n)].outputs;
      return std::count(outputs.begin(), outputs.end(), id) > 0;
    });
  }

  std::vector<bool> AreLast(const std::vector<ValuePart>& parts) const {
    std::vector<bool> last;
    for (const ValuePart& vp : parts) last.push_back(channels_last_[size_t(vp.value)]);
    return last;
  }

  // The part of the value in the order in which the value lies between shares.
  Part AsItLies(const ValuePart& vp) const {
    return channels_last_[size_t(vp.value)] ? ToChannelsLast(vp.part) : vp.part;
  }

  Shape ShapeFor(ValueId id) const {
    const Value& value = graph_.value(id);
    if (!value.shape.known())
      Fail(Code::kUnimplemented, value.name,
           "has a shape that depends on data and would have to be given to another step; got several "
           "processors, expected one for such a model");
    return channels_last_[size_t(id)] ? ToChannelsLast(value.shape) : value.shape;
  }

  // Writes one need per value: the smallest part that contains all needed parts.
  void WriteNeeds(int processor, const std::vector<ValuePart>& inputs, const std::vector<ValuePart>& kept) {
    std::map<ValueId, Part> hulls;
    for (const auto* list : {&inputs, &kept})
      for (const ValuePart& vp : *list) {
        const auto [at, is_new] = hulls.emplace(vp.value, vp.part);
        if (!is_new) at->second = Normalized(Hull(at->second, vp.part), ShapeFor(vp.value));
      }
    std::map<ValueId, int> index;
    for (const auto& [id, part] : hulls) {
      index[id] = int(index.size());
      AddNeed(processor, {id, part});
    }
    ProgramStage& stage = StageOf(processor);
    for (const ValuePart& vp : inputs)
      stage.inputs.push_back({index[vp.value], Within(hulls[vp.value], vp.part, ShapeFor(vp.value))});
    for (const ValuePart& vp : kept)
      stage.kept.push_back({index[vp.value], Within(hulls[vp.value], vp.part, ShapeFor(vp.value))});
  }

  void AddNeed(int processor, const ValuePart& wanted) {
    const Shape shape = ShapeFor(wanted.value);
    const int index = int(StageOf(processor).needs.size());
    ProgramNeed need{wanted.value, graph_.value(wanted.value).type, ShapeOf(wanted.part, shape), {}};
    int64_t elements = 0;
    for (int from = 0; from < int(held_.size()); ++from)
      for (size_t h = 0; h < held_[size_t(from)].size(); ++h) {
        const ValuePart& holds = held_[size_t(from)][h];
        if (holds.value != wanted.value) continue;
        const auto piece = PieceOf(holds.part, wanted.part, shape);
        if (!piece) continue;
        const auto& [cut, at] = *piece;
        elements += ShapeOf(at, need.shape).Elements();
        if (from != processor)
          StageOf(from).sends.push_back({processor, index, int(need.sources.size()), int(h), cut});
        need.sources.push_back({from, int(h), cut, at});
      }
    if (elements != need.shape.Elements())
      Invalid(graph_.value(wanted.value).name,
              "is not to be had where the plan needs it; got {} of {} elements on all processors", elements,
              need.shape.Elements());
    StageOf(processor).needs.push_back(std::move(need));
  }

  void Gather() {
    AddStage();
    std::vector<ValuePart> outputs;
    for (const ValueId id : OutputsOf(graph_, plan_)) outputs.push_back({id, Part::All()});
    WriteNeeds(0, {}, outputs);
    for (const ValuePart& vp : outputs) StageOf(0).holds.push_back(ShapeFor(vp.value));
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::vector<Layer> layers_;
  std::vector<bool> channels_last_;  // by value: how pieces of it lie in memory
  std::vector<Program> programs_;
  Held held_;
};

}  // namespace

std::vector<ValueId> InputsOf(const Graph& graph, const Plan& plan) {
  if (plan.groups.front().first == 0) return graph.inputs;
  return LiveValues(graph, LayersOf(graph))[size_t(plan.groups.front().first)];
}

std::vector<ValueId> OutputsOf(const Graph& graph, const Plan& plan) {
  const std::vector<Layer> layers = LayersOf(graph);
  if (plan.groups.back().last < int(layers.size()))
    return LiveValues(graph, layers)[size_t(plan.groups.back().last)];
  std::vector<ValueId> outputs;
  for (const ValueId id : graph.outputs)
    if (!graph.value(id).is_constant() && std::count(outputs.begin(), outputs.end(), id) == 0)
      outputs.push_back(id);
  return outputs;
}

std::vector<Program> ProgramsOf(const Graph& graph, const Plan& plan) {
  if (plan.processors.empty()) Invalid("plan", "has no processors");
  return ProgramWriter(graph, plan).Do();
}

int64_t ReceivedBytes(const Program& program, int processor) {
  int64_t bytes = 0;
  for (const ProgramStage& stage : program.stages)
    for (const ProgramNeed& need : stage.needs)
      for (const NeedSource& source : need.sources)
        if (source.processor != processor)
          bytes += ShapeOf(source.at, need.shape).Elements() * int64_t(SizeOf(need.type));
  return bytes;
}

}  // namespace mete
