// Windows and the mel scale, as nodes that compute in f64 and that constant folding turns into constants,
// since their sizes are constants in the models of exporters.
#include <limits>
#include <numbers>

#include "import/onnx/composed.h"
#include "import/onnx/microsoft_build.h"

namespace mete::onnx_import {
namespace {

ValueId Scaled(Upgrade& u, ValueId x, double factor) { return Op(u, "Mul", {x, RealConstant(u, factor)}); }

// Returns a scalar, whatever the rank of `x`, which has one element.
ValueId ScalarOf(Upgrade& u, ValueId x, const char* type) { return CastTo(u, Reshaped(u, x, {}), type); }

// Returns 0, 1, ..., count - 1 in f64. `count` is an i64 scalar.
ValueId RealsTo(Upgrade& u, ValueId count) {
  return CastTo(u, Op(u, "Range", {ScalarConstant(u, 0), count, ScalarConstant(u, 1)}), "f64");
}

// Makes the node give `x` in the type that the node asks for.
void BecomeOutput(Upgrade& u, ValueId x) {
  const std::string type(u.node.attributes.String("output_datatype", "f32"));
  Become(u, "Cast", {x}, With("to", type));
}

// The window is c0 - c1 cos(a) + c2 cos(2a), where `a` goes once around.
struct Cosines {
  double c0, c1, c2;
};

Cosines CosinesOf(std::string_view op) {
  if (op == "HannWindow") return {0.5, 0.5, 0};
  if (op == "HammingWindow") return {25.0 / 46, 21.0 / 46, 0};
  return {0.42, 0.5, 0.08};
}

// 2595 log10(1 + f / 700) for a frequency `f` in hertz.
ValueId Mels(Upgrade& u, ValueId f) {
  return Scaled(u, Op(u, "Log", {Op(u, "Add", {Scaled(u, f, 1.0 / 700), RealConstant(u, 1)})}),
                2595 * std::numbers::log10e);
}

ValueId Hertz(Upgrade& u, ValueId mels) {
  const ValueId power = Op(u, "Pow", {RealConstant(u, 10), Scaled(u, mels, 1.0 / 2595)});
  return Scaled(u, Op(u, "Sub", {power, RealConstant(u, 1)}), 700);
}

ValueId Between(Upgrade& u, ValueId x, const char* above, ValueId low, const char* below, ValueId high) {
  return Op(u, "And", {Op(u, above, {x, low}), Op(u, below, {x, high})});
}

}  // namespace

// The input is the size of the window.
void ExpandWindow(Upgrade& u) {
  const auto [c0, c1, c2] = CosinesOf(u.node.op);
  const bool periodic = u.node.attributes.Int("periodic", 1) != 0;
  const ValueId size = ScalarOf(u, u.input(0), "i64");
  const ValueId steps = periodic ? size : Op(u, "Sub", {size, ScalarConstant(u, 1)});
  const ValueId angles =
      Op(u, "Div", {Scaled(u, RealsTo(u, size), 2 * std::numbers::pi), CastTo(u, steps, "f64")});
  ValueId sum = Op(u, "Sub", {RealConstant(u, c0), Scaled(u, Op(u, "Cos", {angles}), c1)});
  if (c2 != 0) sum = Op(u, "Add", {sum, Scaled(u, Op(u, "Cos", {Scaled(u, angles, 2)}), c2)});
  BecomeOutput(u, sum);
}

// Inputs: the number of mel bands, the length of the Fourier transform, samples a second, and the least and
// the greatest frequency in hertz. Each band is a triangle over the frequencies of the transform (rows): it
// rises from the centre of the band before it to its own, and falls to that of the band behind it.
void ExpandMelWeightMatrix(Upgrade& u) {
  const ValueId bands = ScalarOf(u, u.input(0), "i64"), length = ScalarOf(u, u.input(1), "i64");
  const ValueId rate = ScalarOf(u, u.input(2), "f64");
  const ValueId low = Mels(u, ScalarOf(u, u.input(3), "f64")), high = Mels(u, ScalarOf(u, u.input(4), "f64"));
  const ValueId edges = Op(u, "Add", {bands, ScalarConstant(u, 2)});
  const ValueId step = Op(u, "Div", {Op(u, "Sub", {high, low}), CastTo(u, edges, "f64")});
  const ValueId mels = Op(u, "Add", {Op(u, "Mul", {RealsTo(u, edges), step}), low});
  const ValueId longer = CastTo(u, Op(u, "Add", {length, ScalarConstant(u, 1)}), "f64");
  const ValueId rows_of_edges =
      Op(u, "Floor", {Op(u, "Div", {Op(u, "Mul", {Hertz(u, mels), longer}), rate})});
  const int64_t end = std::numeric_limits<int64_t>::max();
  const ValueId lower = Sliced(u, rows_of_edges, 0, 0, -2), centre = Sliced(u, rows_of_edges, 0, 1, -1),
                upper = Sliced(u, rows_of_edges, 0, 2, end);
  const ValueId count = Op(u, "Add", {Op(u, "Div", {length, ScalarConstant(u, 2)}), ScalarConstant(u, 1)});
  const ValueId rows = Unsqueezed(u, RealsTo(u, count), {1});
  const ValueId width = Op(u, "Sub", {centre, lower});
  // A triangle that rises within one row has its peak there.
  const ValueId rise = Op(u, "Where",
                          {Op(u, "Equal", {width, RealConstant(u, 0)}), RealConstant(u, 1),
                           Op(u, "Div", {Op(u, "Sub", {rows, lower}), width})});
  const ValueId fall = Op(u, "Div", {Op(u, "Sub", {upper, rows}), Op(u, "Sub", {upper, centre})});
  const ValueId rises = Between(u, rows, "GreaterOrEqual", lower, "LessOrEqual", centre);
  const ValueId falls = Between(u, rows, "GreaterOrEqual", centre, "Less", upper);
  BecomeOutput(u, Op(u, "Where", {falls, fall, Op(u, "Where", {rises, rise, RealConstant(u, 0)})}));
}

}  // namespace mete::onnx_import
