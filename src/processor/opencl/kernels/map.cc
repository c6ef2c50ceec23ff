#include "processor/opencl/kernels/map.h"

#include <algorithm>

#include "base/error.h"
#include "processor/opencl/kernels/functions.h"
#include "processor/opencl/kernels/writer.h"

namespace mete::opencl {
namespace {

constexpr const char* kWhere = "GPU map";
constexpr int64_t kGroup = 64;  // as in window.cc

std::vector<MapOperand*> Operands(MapSpec& spec) {
  std::vector<MapOperand*> all = {&spec.output};
  for (MapOperand& input : spec.inputs) all.push_back(&input);
  return all;
}

void Check(const MapSpec& spec) {
  int64_t count = 1;
  for (int64_t size : spec.sizes) {
    CheckElements(kWhere, {size});
    CheckElements(kWhere, {count *= size});
  }
  MapSpec copy = spec;
  for (const MapOperand* operand : Operands(copy)) {
    if (operand->strides.size() != spec.sizes.size())
      Invalid(kWhere, "an operand has another rank; got {} strides, expected {}", operand->strides.size(),
              spec.sizes.size());
    int64_t span = operand->first + 1;
    for (size_t d = 0; d < spec.sizes.size(); ++d)
      span += (spec.sizes[d] - 1) * std::max<int64_t>(operand->strides[d], 0);
    CheckElements(kWhere, {span});
  }
  const bool two = std::holds_alternative<ByteBinary>(spec.levels);
  const size_t inputs = two ? 2 : spec.program.steps ? size_t(spec.program.inputs) : 1;
  if (inputs != spec.inputs.size() || (spec.levels.index() && spec.program.steps))
    Invalid(kWhere, "the inputs are not those of the program; got {}, expected {}", spec.inputs.size(),
            inputs);
  if (std::holds_alternative<ByteLookup>(spec.levels) &&
      (spec.inputs[0].type != DType::kU8 || spec.output.type != DType::kU8))
    Invalid(kWhere, "a lookup is of bytes; got {} and {}, expected u8", Name(spec.inputs[0].type),
            Name(spec.output.type));
}

// Returns the element of an operand at the indices i0, i1, ... of the text.
std::string OffsetText(const MapOperand& operand) {
  std::string text = std::to_string(operand.first);
  for (size_t d = 0; d < operand.strides.size(); ++d)
    if (operand.strides[d]) text += fmt::format("+i{}*({})", d, operand.strides[d]);
  return text;
}

std::string ReadText(const MapOperand& operand, int width, const std::string& pointer) {
  const int64_t stride = operand.strides.back();
  const std::string at = OffsetText(operand);
  if (stride == 1 || width == 1) return LoadText(operand.type, width, pointer, at);
  if (stride == 0) return fmt::format("({})({})", FloatVector(width), LoadText(operand.type, 1, pointer, at));
  std::string list;
  for (int i = 0; i < width; ++i)
    list += (i ? "," : "") + LoadText(operand.type, 1, pointer, fmt::format("{}+({})", at, i * stride));
  return fmt::format("({})({})", FloatVector(width), list);
}

void WriteText(Writer& w, const MapOperand& operand, int width, const std::string& value) {
  const int64_t stride = operand.strides.back();
  const std::string at = OffsetText(operand);
  if (stride == 1 || width == 1) return w.Line("{}", StoreText(operand.type, width, value, "output", at));
  for (int i = 0; i < width; ++i)
    w.Line("{}", StoreText(operand.type, 1, LaneText(value, width, i), "output",
                           fmt::format("{}+({})", at, i * stride)));
}

std::string Bounded(const std::string& level, float least, float most) {
  // The maximum first: a NaN is the least level.
  return fmt::format("fmin(fmax({},{}),{})", level, FloatLiteral(least), FloatLiteral(most));
}

// Returns the value of the function of r0.
std::string LevelText(const LevelConversion& c) {
  const std::string scale = FloatLiteral(c.scale), zero = FloatLiteral(c.zero);
  switch (c.kind) {
    case LevelConversion::Kind::kQuantize:
      return Bounded(fmt::format("rint(r0/{})+{}", scale, zero), c.least, c.most);
    case LevelConversion::Kind::kRescale:
      return Bounded(fmt::format("rint((r0-{})*{})+{}", FloatLiteral(c.minus), scale, zero), c.least, c.most);
    default: return fmt::format("(r0-{})*{}", zero, scale);
  }
}

// Returns the value of the function of r0 and r1, vectors of `width`.
std::string LevelText(const ByteBinary& of, int width) {
  const auto number = [&](float value) {
    return fmt::format("({}){}", FloatVector(width), FloatLiteral(value));
  };
  const std::string sum =
      fmt::format("fma({},r0,fma({},r1,{}))", number(of.a_steps), number(of.b_steps), number(of.start));
  const std::string product =
      fmt::format("(r0-{})*(r1-{})*{}+{}", FloatLiteral(of.a_zero), FloatLiteral(of.b_zero),
                  FloatLiteral(of.steps), FloatLiteral(of.y_zero));
  return Bounded(fmt::format("rint({})", of.product ? product : sum), of.least, of.most);
}

// Returns the register with the result of the levels' function.
std::string Levels(Writer& w, const MapSpec& spec, int width) {
  const auto* conversion = std::get_if<LevelConversion>(&spec.levels);
  w.Line("const {} levels={};", FloatVector(width),
         conversion ? LevelText(*conversion) : LevelText(std::get<ByteBinary>(spec.levels), width));
  return "levels";
}

// Returns the register with the result.
std::string Steps(Writer& w, const FusedProgram& program, int width) {
  const auto name = [](int index) { return fmt::format("r{}", index); };
  for (int k = 0; k < program.steps; ++k) {
    const FusedStep& s = program.step[size_t(k)];
    w.Line("const {} {}={};", FloatVector(width), name(program.inputs + k),
           FunctionText(s.function, width, name(s.args[0]), s.args[1] >= 0 ? name(s.args[1]) : ""));
  }
  return name(program.steps ? program.inputs + program.steps - 1 : 0);
}

// Writes the result of the program or of the levels' function.
void WriteFunction(Writer& w, const MapSpec& spec, int width) {
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    w.Line("const {} r{}={};", FloatVector(width), i, ReadText(spec.inputs[i], width, fmt::format("x{}", i)));
  WriteText(w, spec.output, width,
            spec.levels.index() ? Levels(w, spec, width) : Steps(w, spec.program, width));
}

// Writes the table's bytes for those of the input.
void WriteLookup(Writer& w, const MapSpec& spec, int width) {
  const MapOperand &from = spec.inputs[0], &to = spec.output;
  const std::string type = width == 1 ? "uchar" : fmt::format("uchar{}", width), in = OffsetText(from),
                    out = OffsetText(to);
  std::string bytes, found;
  for (int i = 0; i < width; ++i) {
    bytes += fmt::format("{}x0[{}+({})]", i ? "," : "", in, i * from.strides.back());
    found += fmt::format("{}table[{}]", i ? "," : "", LaneText("bytes", width, i));
  }
  if (width > 1 && from.strides.back() == 1) w.Line("const {} bytes=vload{}(0,x0+({}));", type, width, in);
  else w.Line("const {0} bytes=({0})({1});", type, bytes);
  w.Line("const {0} found=({0})({1});", type, found);
  if (width > 1 && to.strides.back() == 1) return w.Line("vstore{}(found,0,output+({}));", width, out);
  for (int i = 0; i < width; ++i)
    w.Line("output[{}+({})]={};", out, i * to.strides.back(), LaneText("found", width, i));
}

}  // namespace

std::vector<int64_t> BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> sizes) {
  if (shape.size() > sizes.size())
    Invalid(kWhere, "an input has a higher rank than the output; got {}, expected at most {}", shape.size(),
            sizes.size());
  std::vector<int64_t> strides(sizes.size(), 0);
  int64_t stride = 1;
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t size = shape[shape.size() - i], of = sizes[sizes.size() - i];
    if (size != 1 && size != of)
      Invalid(kWhere, "an input cannot be broadcast; got the size {}, expected 1 or {}", size, of);
    if (size != 1) strides[sizes.size() - i] = stride;
    stride *= size;
  }
  return strides;
}

MapSpec Joined(const MapSpec& spec) {
  Check(spec);
  MapSpec joined = spec;
  const auto erase = [&](size_t d) {
    joined.sizes.erase(joined.sizes.begin() + int64_t(d));
    for (MapOperand* operand : Operands(joined))
      operand->strides.erase(operand->strides.begin() + int64_t(d));
  };
  for (size_t d = joined.sizes.size(); d-- > 0;)
    if (joined.sizes[d] == 1) erase(d);
  for (size_t d = joined.sizes.size(); d-- > 1;) {
    const std::vector<MapOperand*> all = Operands(joined);
    const bool even = std::all_of(all.begin(), all.end(), [&](const MapOperand* operand) {
      return operand->strides[d - 1] == operand->strides[d] * joined.sizes[d];
    });
    if (!even) continue;
    joined.sizes[d] *= joined.sizes[d - 1];
    erase(d - 1);
  }
  if (!joined.sizes.empty()) return joined;
  joined.sizes = {1};
  for (MapOperand* operand : Operands(joined)) operand->strides = {1};
  return joined;
}

KernelText MapKernel(const MapSpec& spec, int vector) {
  const MapSpec m = Joined(spec);
  int width = VectorWidth(vector);
  while (m.sizes.back() % width) width /= 2;
  int64_t count = 1;
  for (int64_t size : m.sizes) count *= size;
  count /= width;
  KernelText k;
  k.name = "map";
  k.group[0] = kGroup;
  k.items[0] = RoundUp(count, kGroup);
  Writer w;
  if (m.levels.index()) w.Line("#pragma OPENCL FP_CONTRACT OFF");  // each step rounds
  Arguments arguments;
  for (size_t i = 0; i < m.inputs.size(); ++i)
    arguments.Add("const " + ElementName(m.inputs[i].type), fmt::format("x{}", i),
                  Arguments::Overlap::kAllowed);
  const bool looks_up = std::holds_alternative<ByteLookup>(m.levels);
  if (looks_up) arguments.Add("const uchar", "table");
  w.Line("{}", arguments.Add(ElementName(m.output.type), "output", Arguments::Overlap::kAllowed).Head(k));
  w.Line("int item=get_global_id(0);\nif(item>={})return;", count);
  for (size_t d = m.sizes.size(); d-- > 0;) {
    const int64_t items = d + 1 == m.sizes.size() ? m.sizes[d] / width : m.sizes[d];
    w.Line("const int i{}=item%{}*{};item/={};", d, items, d + 1 == m.sizes.size() ? width : 1, items);
  }
  if (looks_up) WriteLookup(w, m, width);
  else WriteFunction(w, m, width);
  w.Line("}}");
  k.source = w.text();
  return k;
}

}  // namespace mete::opencl
