#include "base/error.h"
#include "plan/pool/program.h"

namespace mete {
namespace {

bool In(int index, size_t size) { return index >= 0 && size_t(index) < size; }

bool IsPartOf(const Part& part, const Shape& shape) {
  if (part.all()) return true;
  return part.axis >= 0 && part.axis < shape.rank() && part.rows.begin >= 0 &&
         part.rows.begin < part.rows.end && part.rows.end <= shape[part.axis];
}

class Verifier {
 public:
  Verifier(int processor, const std::vector<Shape>& at_first, int64_t most_bytes)
      : processor_(processor), most_bytes_(most_bytes) {
    for (const Shape& shape : at_first) held_.push_back({shape, DType::kUnknown});
  }

  void Do(const Program& program) {
    for (const ProgramStage& stage : program.stages) {
      for (const ProgramSend& send : stage.sends)
        Check(send.to >= 0 && send.to != processor_ && send.need >= 0 && send.source >= 0 &&
                  IsHeld(send.hold, send.cut),
              "something to send");
      for (const ProgramNeed& need : stage.needs) CheckNeed(need);
      CheckGraph(stage);
      held_ = HeldAfter(stage);
      ++stage_;
    }
  }

 private:
  struct Held {
    Shape shape;
    DType type;  // kUnknown: what the processor holds when a request begins; it is checked then
  };

  static std::vector<Held> HeldAfter(const ProgramStage& stage) {
    std::vector<Held> held;
    for (const ValueId id : stage.graph.outputs)
      held.push_back({stage.graph.value(id).shape, stage.graph.value(id).type});
    for (const NeedPart& part : stage.kept)
      held.push_back({stage.holds[held.size()], stage.needs[size_t(part.need)].type});
    return held;
  }

  void Check(bool fits, const char* what) const {
    if (!fits)
      Invalid("program",
              "has {} in stage {} that does not fit; try the same version of mete on all processors", what,
              stage_);
  }

  bool IsHeld(int hold, const Part& cut) const {
    return In(hold, held_.size()) && IsPartOf(cut, held_[size_t(hold)].shape);
  }

  void CheckNeed(const ProgramNeed& need) const {
    Check(need.shape.known() && need.type != DType::kUnknown &&
              CheckedElements(need.shape, need.type, most_bytes_) >= 0,
          "a need");
    int64_t elements = 0;
    for (const NeedSource& source : need.sources) {
      Check(source.processor >= 0 && IsPartOf(source.at, need.shape), "a source");
      const Shape piece = ShapeOf(source.at, need.shape);
      if (source.processor == processor_) {
        Check(IsHeld(source.hold, source.cut), "a source");
        const Held& held = held_[size_t(source.hold)];
        Check(ShapeOf(source.cut, held.shape) == piece, "a source");
        Check(held.type == need.type || held.type == DType::kUnknown, "a source of another type");
      }
      elements += piece.Elements();
      Check(elements <= need.shape.Elements(), "sources");
    }
    Check(elements == need.shape.Elements(), "a need without all its sources");
  }

  Shape Cutting(const ProgramStage& stage, const NeedPart& part) const {
    Check(In(part.need, stage.needs.size()) && IsPartOf(part.cut, stage.needs[size_t(part.need)].shape),
          "a part of a need");
    return ShapeOf(part.cut, stage.needs[size_t(part.need)].shape);
  }

  void CheckGraph(const ProgramStage& stage) const {
    const Graph& graph = stage.graph;
    const size_t made = graph.outputs.size();
    // A graph without nodes must have no inputs and no outputs.
    Check(!graph.nodes.empty() || (graph.inputs.empty() && made == 0), "a graph without nodes");
    Check(stage.inputs.size() == graph.inputs.size() && stage.holds.size() == made + stage.kept.size(),
          "a graph with other inputs or outputs");
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      const Value& input = graph.value(graph.inputs[i]);
      Check(Cutting(stage, stage.inputs[i]) == input.shape &&
                stage.needs[size_t(stage.inputs[i].need)].type == input.type,
            "an input");
    }
    for (size_t i = 0; i < made; ++i) {
      const Shape& shape = graph.value(graph.outputs[i]).shape;
      Check(shape.known() && shape == stage.holds[i] && graph.value(graph.outputs[i]).type != DType::kUnknown,
            "an output");
    }
    for (size_t i = 0; i < stage.kept.size(); ++i)
      Check(Cutting(stage, stage.kept[i]) == stage.holds[made + i], "something kept");
  }

  const int processor_;
  std::vector<Held> held_;
  const int64_t most_bytes_;
  int stage_ = 0;
};

}  // namespace

void Verify(const Program& program, int processor, const std::vector<Shape>& at_first, int64_t most_bytes) {
  Verifier(processor, at_first, most_bytes).Do(program);
}

}  // namespace mete
