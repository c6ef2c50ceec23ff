// Forms of Fourier transforms that are refused; what others give is in tests/tflite_operators_test.cc.
#include "base/errors_testing.h"
#include "import/tflite/models_testing.h"

namespace mete {
namespace {

using Model = TfliteModel;
using Code = Model::Code;
using Type = Model::Type;

int Transform(Model& m, int x, const std::vector<int32_t>& lengths) {
  return m.Op(Code::RFFT2D, {x, m.Ints(lengths)}, Model::Kind::NONE, {}, {m.Value({}, Type::COMPLEX64)});
}

TEST(TfliteSpectrum, TransformChecksItsLengths) {
  const auto read = [](const std::vector<int>& shape, const std::vector<int32_t>& lengths) {
    Model m;
    return ImportOutput(m, m.Op(Code::REAL, {Transform(m, m.Input(shape), lengths)}));
  };
  EXPECT_TELLS(read({2, 8}, {1}), "the lengths must be 2 positive numbers; got 1");
  EXPECT_TELLS(read({2, 8}, {0, 8}), "the lengths must be 2 positive numbers; got 0, 8");
  EXPECT_TELLS(read({8}, {1, 8}), "RFFT2D needs floats of at least 2 dimensions; got f32 8");
  EXPECT_TELLS(read({2, 8}, {1, 8192}), "a transform of 1 by 8192 numbers; expected at most 2048 by 4096");
  EXPECT_TELLS(read({2, 8}, {4096, 8}), "a transform of 4096 by 8 numbers; expected at most 2048 by 4096");
}

TEST(TfliteSpectrum, ComplexNumbersAreNoValuesForOthers) {
  Model sum;
  const int z = Transform(sum, sum.Input({2, 8}), {2, 8});
  EXPECT_TELLS(ImportOutput(sum, sum.Op(Code::NEG, {z})), "its type is COMPLEX64");
  Model output;
  EXPECT_TELLS(ImportOutput(output, Transform(output, output.Input({2, 8}), {2, 8})),
               "its type is COMPLEX64");
  Model input;
  EXPECT_TELLS(ImportOutput(input, input.Op(Code::REAL, {input.Input({2, 8}, Type::COMPLEX64)})),
               "its type is COMPLEX64");
}

TEST(TfliteSpectrum, PartsOfRealNumbersAreRefused) {
  Model m;
  EXPECT_TELLS(ImportOutput(m, m.Op(Code::COMPLEX_ABS, {m.Input({2, 8})})),
               "its input has no complex numbers");
  Model made;
  const int x = made.Input({2, 8}), z = made.Value({}, Type::COMPLEX64);
  made.Op(Code::NEG, {x}, Model::Kind::NONE, {}, {z});
  EXPECT_TELLS(ImportOutput(made, made.Op(Code::REAL, {z})),
               "the operator makes another type than the file says");
  Model real;
  const int y = real.Value({});
  real.Op(Code::RFFT2D, {real.Input({2, 8}), real.Ints({2, 8})}, Model::Kind::NONE, {}, {y});
  EXPECT_TELLS(ImportOutput(real, y), "the operator makes complex numbers; the file says f32");
}

}  // namespace
}  // namespace mete
