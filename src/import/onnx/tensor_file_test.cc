#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_path_testing.h"
#include "import/onnx/proto.h"
#include "mete/error.h"
#include "mete/io.h"

namespace mete {
namespace {

class TensorFile : public testing::Test {
 protected:
  Tensor Read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ReadTensorPb(path_);
  }
  const TempPath temp_;
  const std::string path_ = temp_.str();
};

TEST_F(TensorFile, ReadsRawAndTypedData) {
  ::onnx::TensorProto proto;
  proto.set_data_type(::onnx::TensorProto::FLOAT);
  proto.add_dims(2);
  proto.add_float_data(1.5f);
  proto.add_float_data(-2);
  EXPECT_EQ(Read(proto.SerializeAsString()).as<float>()[1], -2);
  proto.clear_float_data();
  const float values[] = {3, 4};
  proto.set_raw_data(values, sizeof values);
  const Tensor t = Read(proto.SerializeAsString());
  EXPECT_EQ(t.shape(), (Shape{2}));
  EXPECT_EQ(t.as<float>()[1], 4);
}

TEST_F(TensorFile, RejectsWhatIsNoTensor) {
  EXPECT_THROW(ReadTensorPb(path_ + ".missing"), Error);
  EXPECT_THROW(Read(""), Error);
  EXPECT_THROW(Read("<html></html>"), Error);
  ::onnx::TensorProto proto;
  proto.set_data_type(::onnx::TensorProto::FLOAT);
  proto.add_dims(1000000);
  proto.set_raw_data("1234");
  EXPECT_THROW(Read(proto.SerializeAsString()), Error);
}

}  // namespace
}  // namespace mete
