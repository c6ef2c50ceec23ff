#include "network/protocol/programs.h"

#include <set>

#include "base/error.h"

namespace mete {
namespace {

constexpr int kMostStages = 100'000;  // guess, as the number of nodes in wire.h

void PackPart(const Part& part, pb::Part* to) {
  if (part.all()) return;
  to->set_divided(true);
  to->set_axis(part.axis);
  to->set_begin(part.rows.begin);
  to->set_end(part.rows.end);
}

Part UnpackPart(const pb::Part& from) {
  if (!from.divided()) return Part::All();
  if (from.axis() < 0) Invalid("program", "has a part along no axis; got {}", from.axis());
  return Part::Of(from.axis(), {from.begin(), from.end()});
}

void PackShape(const Shape& shape, pb::Dims* to) {
  for (const int64_t d : shape.dims()) to->add_d(d);
}

Shape UnpackShape(const pb::Dims& from) {
  return Shape(std::span<const int64_t>(from.d().data(), size_t(from.d_size())));
}

void PackNeedPart(const NeedPart& part, pb::NeedPart* to) {
  to->set_need(part.need);
  PackPart(part.cut, to->mutable_cut());
}

NeedPart UnpackNeedPart(const pb::NeedPart& from) { return {from.need(), UnpackPart(from.cut())}; }

void PackNeed(const ProgramNeed& need, pb::Need* to) {
  to->set_type(uint32_t(need.type));
  PackShape(need.shape, to->mutable_shape());
  for (const NeedSource& source : need.sources) {
    pb::Source* s = to->add_sources();
    s->set_processor(source.processor);
    s->set_hold(source.hold);
    PackPart(source.cut, s->mutable_cut());
    PackPart(source.at, s->mutable_at());
  }
}

ProgramNeed UnpackNeed(const pb::Need& from) {
  if (from.type() > uint32_t(kLastDType)) Invalid("program", "has an unknown type; got {}", from.type());
  ProgramNeed need{kNoValue, DType(from.type()), UnpackShape(from.shape()), {}};
  for (const pb::Source& s : from.sources())
    need.sources.push_back({s.processor(), s.hold(), UnpackPart(s.cut()), UnpackPart(s.at())});
  return need;
}

pb::Stage PackStage(const ProgramStage& stage, std::map<Digest, Tensor>& weights, DigestMemo* digests) {
  pb::Stage to;
  for (const ProgramSend& send : stage.sends) {
    pb::Send* s = to.add_sends();
    s->set_to(send.to);
    s->set_need(send.need);
    s->set_source(send.source);
    s->set_hold(send.hold);
    PackPart(send.cut, s->mutable_cut());
  }
  for (const ProgramNeed& need : stage.needs) PackNeed(need, to.add_needs());
  for (const NeedPart& part : stage.inputs) PackNeedPart(part, to.add_inputs());
  for (const NeedPart& part : stage.kept) PackNeedPart(part, to.add_kept());
  for (const Shape& shape : stage.holds) PackShape(shape, to.add_holds());
  if (stage.graph.nodes.empty()) return to;
  PackedGraph packed = PackGraph(stage.graph, digests);
  to.set_graph(std::move(packed.bytes));
  weights.merge(packed.weights);
  return to;
}

ProgramStage UnpackStage(const pb::Stage& from, const FindWeight& find, const WireLimits& limits) {
  ProgramStage stage;
  for (const pb::Send& s : from.sends())
    stage.sends.push_back({s.to(), s.need(), s.source(), s.hold(), UnpackPart(s.cut())});
  for (const pb::Need& need : from.needs()) stage.needs.push_back(UnpackNeed(need));
  for (const pb::NeedPart& part : from.inputs()) stage.inputs.push_back(UnpackNeedPart(part));
  for (const pb::NeedPart& part : from.kept()) stage.kept.push_back(UnpackNeedPart(part));
  for (const pb::Dims& dims : from.holds()) stage.holds.push_back(UnpackShape(dims));
  if (!from.graph().empty()) stage.graph = UnpackGraph(from.graph(), find, limits);
  return stage;
}

}  // namespace

PackedProgram PackProgram(const Program& program, DigestMemo* digests) {
  PackedProgram packed;
  for (const ProgramStage& stage : program.stages)
    packed.stages.push_back(PackStage(stage, packed.weights, digests));
  return packed;
}

Program UnpackProgram(const google::protobuf::RepeatedPtrField<pb::Stage>& stages, int processor,
                      const FindWeight& find, const WireLimits& limits) {
  if (stages.size() > kMostStages)
    Invalid("program", "has too many stages; got {}, expected {} at most", stages.size(), kMostStages);
  Program program;
  for (const pb::Stage& stage : stages) program.stages.push_back(UnpackStage(stage, find, limits));
  Verify(program, processor, {}, limits.max_value_bytes);
  return program;
}

std::vector<Digest> WeightsIn(const google::protobuf::RepeatedPtrField<pb::Stage>& stages) {
  std::set<Digest> all;
  for (const pb::Stage& stage : stages) {
    if (stage.graph().empty()) continue;
    const std::vector<Digest> digests = WeightsIn(stage.graph());
    all.insert(digests.begin(), digests.end());
  }
  return {all.begin(), all.end()};
}

}  // namespace mete
