#include "run/program_bytes.h"

#include <algorithm>

namespace mete {
namespace {

// the limit of sums, so that they cannot overflow: more memory than any processor has
constexpr int64_t kMost = int64_t(1) << 50;

int64_t Bytes(DType type, const Shape& shape) { return shape.Elements() * int64_t(SizeOf(type)); }

struct Sum {
  void Add(int64_t bytes) { all = std::min(all + std::min(bytes, kMost), kMost); }
  // Adds the bytes that Cut() copies; it does not copy a part that is the whole.
  void AddCut(DType type, const Shape& shape, const Part& cut) {
    if (!cut.all()) Add(Bytes(type, ShapeOf(cut, shape)));
  }
  int64_t all = 0;
};

// Returns the bytes of a piece until it is taken: decoded, and in addition coded if the code has another
// length.
int64_t PieceBytes(DType type, const Shape& shape, Coding coding) {
  const int64_t decoded = Bytes(type, shape), coded = CodedBytes(coding, type, shape);
  return coded == decoded ? decoded : decoded + coded;
}

void AddNeed(const ProgramNeed& need, int processor, Coding coding, Sum& sum) {
  for (const NeedSource& source : need.sources)
    // twice, because the piece of the next request may come, too
    if (source.processor != processor)
      sum.Add(2 * PieceBytes(need.type, ShapeOf(source.at, need.shape), coding));
  if (need.sources.size() > 1 || !need.sources[0].at.all()) sum.Add(Bytes(need.type, need.shape));
}

}  // namespace

int64_t RequestBytes(const Program& program, int processor, Coding coding) {
  Sum sum;
  std::vector<DType> held;  // types of what the stage before holds
  for (size_t s = 0; s < program.stages.size(); ++s) {
    const ProgramStage& stage = program.stages[s];
    for (const ProgramSend& send : stage.sends) {
      const size_t hold = size_t(send.hold);
      sum.Add(Bytes(held[hold], ShapeOf(send.cut, program.stages[s - 1].holds[hold])));
    }
    for (const ProgramNeed& need : stage.needs) AddNeed(need, processor, coding, sum);
    held.clear();
    for (const ValueId id : stage.graph.outputs) {
      const Value& output = stage.graph.value(id);
      sum.Add(Bytes(output.type, output.shape));
      held.push_back(output.type);
    }
    for (const NeedPart& part : stage.inputs) {
      const ProgramNeed& need = stage.needs[size_t(part.need)];
      sum.AddCut(need.type, need.shape, part.cut);
    }
    for (const NeedPart& part : stage.kept) {
      const ProgramNeed& need = stage.needs[size_t(part.need)];
      sum.AddCut(need.type, need.shape, part.cut);
      held.push_back(need.type);
    }
  }
  return sum.all;
}

}  // namespace mete
