// Forms of LSTMs that are refused. tests/tflite_operators_test.cc compares what the others give.
#include "base/errors_testing.h"
#include "import/tflite/models_testing.h"

namespace mete {
namespace {

using Model = TfliteModel;
using Code = Model::Code;
using Type = Model::Type;
using Kind = Model::Kind;

// An LSTM of 2 cells over 3 numbers, with some of its inputs left out.
Imported ReadLstm(const std::vector<int>& without, bool variable_state,
                  tflite::Activation activation = tflite::Activation::TANH, bool diagonal = false) {
  Model m;
  std::vector<int> in = {m.Input({1, 4, 3})};
  for (int i = 0; i < 4; ++i) in.push_back(m.Floats({2, 3}, Made(6)));
  for (int i = 0; i < 4; ++i) in.push_back(m.Floats({2, 2}, Made(4)));
  for (int i = 0; i < 3; ++i) in.push_back(m.Floats({2}, Made(2)));
  for (int i = 0; i < 4; ++i) in.push_back(m.Floats({2}, Made(2)));
  in.insert(in.end(), {-1, -1});
  const int state = variable_state ? -1 : m.Floats({1, 2}, {1, 2});
  in.insert(in.end(), {state, -1});
  for (const int i : without) in[size_t(i)] = -1;
  return ImportOutput(
      m, m.Op(Code::UNIDIRECTIONAL_SEQUENCE_LSTM, in, Kind::UnidirectionalSequenceLSTMOptions,
              tflite::CreateUnidirectionalSequenceLSTMOptions(m.builder, activation, 0, 0, false, diagonal)));
}

TEST(TfliteOperator, FormsOfAnLstmThatAreRefused) {
  EXPECT_NO_THROW(ReadLstm({}, true));
  EXPECT_NO_THROW(ReadLstm({1, 5, 9, 12}, true));
  EXPECT_NO_THROW(ReadLstm({9, 10, 11}, true, tflite::Activation::NONE));
  EXPECT_TELLS(ReadLstm({1}, true), "some inputs of its input gate are left out; expected all or none");
  EXPECT_TELLS(ReadLstm({9}, true), "some inputs of its input gate are left out; expected all or none");
  EXPECT_TELLS(ReadLstm({11}, true), "UNIDIRECTIONAL_SEQUENCE_LSTM lacks input 11");
  EXPECT_TELLS(ReadLstm({}, false), "its state is no variable");
  EXPECT_TELLS(ReadLstm({}, true, tflite::Activation::RELU6), "its activation is number 3");
  EXPECT_TELLS(ReadLstm({}, true, tflite::Activation::TANH, true), "the weights of its state are diagonals");
}

}  // namespace
}  // namespace mete
