// Operators that compute each output element from one element of each input.
#include "graph/ops/check.h"
#include "graph/operators.h"

namespace mete {
namespace {

// One input, the output like it. kTypes: what the input may hold.
template <TypeSet kTypes>
void InferUnary(InferContext& c) {
  NeedType(c, 0, kTypes);
  c.Output(0, c.type(0), c.shape(0));
}

template <TypeSet kTypes>
void InferPredicate(InferContext& c) {
  NeedType(c, 0, kTypes);
  c.Output(0, DType::kBool, c.shape(0));
}

Shape BroadcastAll(const InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.has(i)) c.Bad("input {} is left out; expected all inputs to be there", i);
    shape = BroadcastShapes(c, shape, c.shape(i));
  }
  return shape;
}

// Any number of inputs of one type, broadcast together.
template <TypeSet kTypes>
void InferBroadcast(InferContext& c) {
  NeedType(c, 0, kTypes);
  NeedSameTypes(c, 0, 1);
  c.Output(0, c.type(0), BroadcastAll(c));
}

template <TypeSet kTypes>
void InferCompare(InferContext& c) {
  NeedType(c, 0, kTypes);
  NeedSameTypes(c, 0, 1);
  c.Output(0, DType::kBool, BroadcastAll(c));
}

void InferPow(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedType(c, 1, kNumericTypes);
  c.Output(0, c.type(0), BroadcastAll(c));
}

void InferMod(InferContext& c) {
  const int64_t fmod = c.attributes.Int("fmod", 0);
  if (fmod != 0 && fmod != 1) c.Bad("attribute fmod is out of range; got {}, expected 0 or 1", fmod);
  InferBroadcast<kNumericTypes>(c);
}

void InferBitShift(InferContext& c) {
  const auto direction = c.attributes.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") c.Bad("attribute direction is unknown; got '{}', expected LEFT or RIGHT", direction);
  InferBroadcast<kIntTypes>(c);
}

void InferPRelu(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  if (BroadcastAll(c) != c.shape(0))
    c.Bad("slope cannot be broadcast to the input; got {}, expected to fit {}", ToString(c.shape(1)), ToString(c.shape(0)));
  c.Output(0, c.type(0), c.shape(0));
}

void InferSwiGlu(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  NeedSameTypes(c, 0, 1);
  NeedShape(c, 1, c.shape(0));
  c.Output(0, c.type(0), c.shape(0));
}

void InferClip(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  for (int i = 1; i <= 2; ++i)
    if (c.has(i) && c.shape(i).Elements() != 1) c.Bad("bound must be a scalar; got input {} as {}", i, ToString(c.shape(i)));
  c.Output(0, c.type(0), c.shape(0));
}

void InferGelu(InferContext& c) {
  const auto approximate = c.attributes.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    c.Bad("attribute approximate is unknown; got '{}', expected none or tanh", approximate);
  InferUnary<kFloatTypes>(c);
}

void InferWhere(InferContext& c) {
  NeedType(c, 0, kBoolType);
  NeedType(c, 1, kAllTypes);
  NeedSameTypes(c, 1, 2);
  c.Output(0, c.type(1), BroadcastAll(c));
}

DType TargetType(const InferContext& c) {
  const auto name = c.attributes.String("to", "");
  const DType to = DTypeOf(name);
  if (to == DType::kUnknown) c.Bad("attribute to is not an element type; got '{}', expected f32, i64, ...", name);
  return to;
}

void InferCast(InferContext& c) { c.Output(0, TargetType(c), c.shape(0)); }
void InferCastLike(InferContext& c) { c.Output(0, c.type(1), c.shape(0)); }

void InferBitCast(InferContext& c) {
  const DType to = TargetType(c);
  if (SizeOf(to) != SizeOf(c.type(0)))
    c.Bad("a bit cast keeps the element's size; got {} to {}, expected {} bytes; try a Cast", Name(c.type(0)), Name(to), SizeOf(c.type(0)));
  c.Output(0, to, c.shape(0));
}

// Inference only: the identity, and a mask of all true.
void InferDropout(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  const auto training = c.has(2) ? c.ints(2) : std::optional<Ints>(Ints{0});
  const bool keeps_all = c.has(1) && c.has_data(1) && c.type(1) == DType::kF32 && c.data(1).elements() == 1 && *c.data(1).as<float>() == 0;
  if (training && training->size() == 1 && training->front() != 0 && !keeps_all)
    c.Bad("training_mode is not supported; got true, expected false");
  c.Output(0, c.type(0), c.shape(0));
  c.Output(1, DType::kBool, c.shape(0));
}

constexpr InferFn kFloatUnary = InferUnary<kFloatTypes>;
constexpr InferFn kSignedUnary = InferUnary<kSignedTypes>;
constexpr InferFn kNumericUnary = InferUnary<kNumericTypes>;
constexpr InferFn kNumericBroadcast = InferBroadcast<kNumericTypes>;
constexpr InferFn kIntBroadcast = InferBroadcast<kIntTypes>;
constexpr InferFn kLogicBroadcast = InferBroadcast<kBoolType>;
constexpr InferFn kOrder = InferCompare<kNumericTypes>;

constexpr OpSchema kOperators[] = {
    // Activations.
    {"Celu", 1, 1, 1, kFloatUnary},
    {"Clip", 1, 3, 1, InferClip},
    {"Elu", 1, 1, 1, kFloatUnary},
    {"Gelu", 1, 1, 1, InferGelu},
    {"HardSigmoid", 1, 1, 1, kFloatUnary},
    {"HardSwish", 1, 1, 1, kFloatUnary},
    {"LeakyRelu", 1, 1, 1, kFloatUnary},
    {"Mish", 1, 1, 1, kFloatUnary},
    {"PRelu", 2, 2, 1, InferPRelu},
    {"Relu", 1, 1, 1, kNumericUnary},
    {"Selu", 1, 1, 1, kFloatUnary},
    {"Shrink", 1, 1, 1, kNumericUnary},
    {"Sigmoid", 1, 1, 1, kFloatUnary},
    {"Softplus", 1, 1, 1, kFloatUnary},
    {"Softsign", 1, 1, 1, kFloatUnary},
    {"SwiGLU", 2, 2, 1, InferSwiGlu},
    {"Swish", 1, 1, 1, kFloatUnary},
    {"Tanh", 1, 1, 1, kFloatUnary},
    {"ThresholdedRelu", 1, 1, 1, kFloatUnary},
    {"mete.Power", 1, 1, 1, kFloatUnary},

    // One input.
    {"Abs", 1, 1, 1, kNumericUnary},
    {"Acos", 1, 1, 1, kFloatUnary},
    {"Acosh", 1, 1, 1, kFloatUnary},
    {"Asin", 1, 1, 1, kFloatUnary},
    {"Asinh", 1, 1, 1, kFloatUnary},
    {"Atan", 1, 1, 1, kFloatUnary},
    {"Atanh", 1, 1, 1, kFloatUnary},
    {"BitwiseNot", 1, 1, 1, InferUnary<kIntTypes>},
    {"Ceil", 1, 1, 1, kFloatUnary},
    {"Cos", 1, 1, 1, kFloatUnary},
    {"Cosh", 1, 1, 1, kFloatUnary},
    {"Dropout", 1, 3, 2, InferDropout},
    {"Erf", 1, 1, 1, kFloatUnary},
    {"Exp", 1, 1, 1, kFloatUnary},
    {"Floor", 1, 1, 1, kFloatUnary},
    {"Identity", 1, 1, 1, InferUnary<kAllTypes>},
    {"IsInf", 1, 1, 1, InferPredicate<kFloatTypes>},
    {"IsNaN", 1, 1, 1, InferPredicate<kFloatTypes>},
    {"Log", 1, 1, 1, kFloatUnary},
    {"Neg", 1, 1, 1, kSignedUnary},
    {"Not", 1, 1, 1, InferUnary<kBoolType>},
    {"Reciprocal", 1, 1, 1, kFloatUnary},
    {"Round", 1, 1, 1, kFloatUnary},
    {"Sign", 1, 1, 1, kNumericUnary},
    {"Sin", 1, 1, 1, kFloatUnary},
    {"Sinh", 1, 1, 1, kFloatUnary},
    {"Sqrt", 1, 1, 1, kFloatUnary},
    {"Tan", 1, 1, 1, kFloatUnary},

    // Several inputs, broadcast together.
    {"Add", 2, 2, 1, kNumericBroadcast},
    {"And", 2, 2, 1, kLogicBroadcast},
    {"BitShift", 2, 2, 1, InferBitShift},
    {"BitwiseAnd", 2, 2, 1, kIntBroadcast},
    {"BitwiseOr", 2, 2, 1, kIntBroadcast},
    {"BitwiseXor", 2, 2, 1, kIntBroadcast},
    {"Div", 2, 2, 1, kNumericBroadcast},
    {"Equal", 2, 2, 1, InferCompare<kAllTypes>},
    {"Greater", 2, 2, 1, kOrder},
    {"GreaterOrEqual", 2, 2, 1, kOrder},
    {"Less", 2, 2, 1, kOrder},
    {"LessOrEqual", 2, 2, 1, kOrder},
    {"Max", 1, -1, 1, kNumericBroadcast},
    {"Mean", 1, -1, 1, InferBroadcast<kFloatTypes>},
    {"Min", 1, -1, 1, kNumericBroadcast},
    {"Mod", 2, 2, 1, InferMod},
    {"Mul", 2, 2, 1, kNumericBroadcast},
    {"Or", 2, 2, 1, kLogicBroadcast},
    {"Pow", 2, 2, 1, InferPow},
    {"Sub", 2, 2, 1, kNumericBroadcast},
    {"Sum", 1, -1, 1, InferBroadcast<kFloatTypes>},
    {"Where", 3, 3, 1, InferWhere},
    {"Xor", 2, 2, 1, kLogicBroadcast},

    // Types.
    {"BitCast", 1, 1, 1, InferBitCast},
    {"Cast", 1, 1, 1, InferCast},
    {"CastLike", 2, 2, 1, InferCastLike},
};

}  // namespace

std::span<const OpSchema> ElementwiseOperators() { return kOperators; }

}  // namespace mete
