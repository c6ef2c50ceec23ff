// Operators that compute each output element from one element of each input.
#include "base/narrow.h"
#include "graph/ops/check.h"
#include "graph/operators.h"

namespace mete {
namespace {

// The output has the type and shape of the one input. kTypes: the types that the input may have.
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

// The operator has any number of inputs of one type, which are broadcast together.
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
  if (direction != "LEFT" && direction != "RIGHT")
    c.Bad("attribute direction is unknown; got '{}', expected LEFT or RIGHT", direction);
  InferBroadcast<kIntTypes>(c);
}

void InferPRelu(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  if (BroadcastAll(c) != c.shape(0))
    c.Bad("slope cannot be broadcast to the input; got {}, expected to fit {}", ToString(c.shape(1)),
          ToString(c.shape(0)));
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
    if (c.has(i) && c.shape(i).Elements() != 1)
      c.Bad("bound must be a scalar; got input {} as {}", i, ToString(c.shape(i)));
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
  NeedType(c, 1, kMovedTypes);
  NeedSameTypes(c, 1, 2);
  c.Output(0, c.type(1), BroadcastAll(c));
}

DType TargetType(const InferContext& c) {
  const auto name = c.attributes.String("to", "");
  const DType to = DTypeOf(name);
  if (to == DType::kUnknown)
    c.Bad("attribute to is not an element type; got '{}', expected f32, i64, ...", name);
  return to;
}

void InferCastTo(InferContext& c, DType to) {
  const auto mode = c.attributes.String("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    c.Bad("attribute round_mode is unknown; got '{}', expected up, down or nearest", mode);
  c.Output(0, to, c.shape(0));
}

void InferCast(InferContext& c) { InferCastTo(c, TargetType(c)); }
void InferCastLike(InferContext& c) { InferCastTo(c, c.type(1)); }

void InferBitCast(InferContext& c) {
  const DType to = TargetType(c);
  for (const DType type : {c.type(0), to})
    if (IsNarrow(type) && BitsOf(type) < 8)
      c.Bad("a bit cast takes no types below 8 bits; got {}; try a Cast", Name(type));
  if (SizeOf(to) != SizeOf(c.type(0)))
    c.Bad("a bit cast keeps the element's size; got {} to {}, expected {} bytes; try a Cast", Name(c.type(0)),
          Name(to), SizeOf(c.type(0)));
  c.Output(0, to, c.shape(0));
}

// At inference (not training) Dropout is the identity, and its mask is true everywhere. The importer of ONNX
// writes one in training with other operators (upgrade_random.cc).
void InferDropout(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  const auto training = c.has(2) ? c.ints(2) : std::optional<Ints>(Ints{0});
  const bool keeps_all = c.has(1) && c.has_data(1) && c.type(1) == DType::kF32 && c.data(1).elements() == 1 &&
                         *c.data(1).as<float>() == 0;
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

constexpr OpTraits kEach{OpKind::kElementwise, Orders::kAny, DivideBy::kBroadcast};
constexpr OpTraits kFold{OpKind::kElementwiseFold, Orders::kAny, DivideBy::kBroadcast};
constexpr OpTraits kFirst{OpKind::kElementwiseFirst, Orders::kAny, DivideBy::kFirstInput};
constexpr OpTraits kCopy{OpKind::kCopy, Orders::kAny, DivideBy::kBroadcast};

constexpr OpSchema kElementwiseOperators[] = {
    // Activations.
    {"Celu", 1, 1, 1, kFloatUnary, kEach},
    {"Clip", 1, 3, 1, InferClip, kFirst},
    {"Elu", 1, 1, 1, kFloatUnary, kEach},
    {"Gelu", 1, 1, 1, InferGelu, kEach},
    {"HardSigmoid", 1, 1, 1, kFloatUnary, kEach},
    {"HardSwish", 1, 1, 1, kFloatUnary, kEach},
    {"LeakyRelu", 1, 1, 1, kFloatUnary, kEach},
    {"Mish", 1, 1, 1, kFloatUnary, kEach},
    {"PRelu", 2, 2, 1, InferPRelu, kEach},
    {"Relu", 1, 1, 1, kNumericUnary, kEach},
    {"Selu", 1, 1, 1, kFloatUnary, kEach},
    {"Shrink", 1, 1, 1, kNumericUnary, kEach},
    {"Sigmoid", 1, 1, 1, kFloatUnary, kEach},
    {"Softplus", 1, 1, 1, kFloatUnary, kEach},
    {"Softsign", 1, 1, 1, kFloatUnary, kEach},
    {"SwiGLU", 2, 2, 1, InferSwiGlu, kEach},
    {"Swish", 1, 1, 1, kFloatUnary, kEach},
    {"Tanh", 1, 1, 1, kFloatUnary, kEach},
    {"ThresholdedRelu", 1, 1, 1, kFloatUnary, kEach},
    {"mete.Power", 1, 1, 1, kFloatUnary, kEach},

    // Operators with one input.
    {"Abs", 1, 1, 1, kNumericUnary, kEach},
    {"Acos", 1, 1, 1, kFloatUnary, kEach},
    {"Acosh", 1, 1, 1, kFloatUnary, kEach},
    {"Asin", 1, 1, 1, kFloatUnary, kEach},
    {"Asinh", 1, 1, 1, kFloatUnary, kEach},
    {"Atan", 1, 1, 1, kFloatUnary, kEach},
    {"Atanh", 1, 1, 1, kFloatUnary, kEach},
    {"BitwiseNot", 1, 1, 1, InferUnary<kIntTypes>, kEach},
    {"Ceil", 1, 1, 1, kFloatUnary, kEach},
    {"Cos", 1, 1, 1, kFloatUnary, kEach},
    {"Cosh", 1, 1, 1, kFloatUnary, kEach},
    {"Dropout", 1, 3, 2, InferDropout, kFirst},
    {"Erf", 1, 1, 1, kFloatUnary, kEach},
    {"Exp", 1, 1, 1, kFloatUnary, kEach},
    {"Floor", 1, 1, 1, kFloatUnary, kEach},
    {"Identity", 1, 1, 1, InferUnary<kMovedTypes>, Narrow(kCopy)},
    {"IsInf", 1, 1, 1, InferPredicate<kFloatTypes>, kEach},
    {"IsNaN", 1, 1, 1, InferPredicate<kFloatTypes>, kEach},
    {"Log", 1, 1, 1, kFloatUnary, kEach},
    {"Neg", 1, 1, 1, kSignedUnary, kEach},
    {"Not", 1, 1, 1, InferUnary<kBoolType>, kEach},
    {"Reciprocal", 1, 1, 1, kFloatUnary, kEach},
    {"Round", 1, 1, 1, kFloatUnary, kEach},
    {"Sign", 1, 1, 1, kNumericUnary, kEach},
    {"Sin", 1, 1, 1, kFloatUnary, kEach},
    {"Sinh", 1, 1, 1, kFloatUnary, kEach},
    {"Sqrt", 1, 1, 1, kFloatUnary, kEach},
    {"Tan", 1, 1, 1, kFloatUnary, kEach},

    // Operators with several inputs that are broadcast together.
    {"Add", 2, 2, 1, kNumericBroadcast, kEach},
    {"And", 2, 2, 1, kLogicBroadcast, kEach},
    {"BitShift", 2, 2, 1, InferBitShift, kEach},
    {"BitwiseAnd", 2, 2, 1, kIntBroadcast, kEach},
    {"BitwiseOr", 2, 2, 1, kIntBroadcast, kEach},
    {"BitwiseXor", 2, 2, 1, kIntBroadcast, kEach},
    {"Div", 2, 2, 1, kNumericBroadcast, kEach},
    {"Equal", 2, 2, 1, InferCompare<kAllTypes>, kEach},
    {"Greater", 2, 2, 1, kOrder, kEach},
    {"GreaterOrEqual", 2, 2, 1, kOrder, kEach},
    {"Less", 2, 2, 1, kOrder, kEach},
    {"LessOrEqual", 2, 2, 1, kOrder, kEach},
    {"Max", 1, -1, 1, kNumericBroadcast, kFold},
    {"Mean", 1, -1, 1, InferBroadcast<kFloatTypes>, kFold},
    {"Min", 1, -1, 1, kNumericBroadcast, kFold},
    {"Mod", 2, 2, 1, InferMod, kEach},
    {"Mul", 2, 2, 1, kNumericBroadcast, kEach},
    {"Or", 2, 2, 1, kLogicBroadcast, kEach},
    {"Pow", 2, 2, 1, InferPow, kEach},
    {"Sub", 2, 2, 1, kNumericBroadcast, kEach},
    {"Sum", 1, -1, 1, InferBroadcast<kFloatTypes>, kFold},
    {"Where", 3, 3, 1, InferWhere, Narrow(kEach)},
    {"Xor", 2, 2, 1, kLogicBroadcast, kEach},

    // Operators that change the element type.
    {"BitCast", 1, 1, 1, InferBitCast, Narrow(kEach)},
    {"Cast", 1, 1, 1, InferCast, Narrow(kEach)},
    {"CastLike", 2, 2, 1, InferCastLike, Narrow(kFirst)},
};

}  // namespace

std::span<const OpSchema> ElementwiseOperators() { return kElementwiseOperators; }

}  // namespace mete
