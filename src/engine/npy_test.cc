#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "mete/error.h"
#include "mete/io.h"

namespace mete {
namespace {

class NpyFile : public testing::Test {
 protected:
  void WriteBytes(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  // A version 1 file with this header and this many bytes of data.
  void WriteFile(const std::string& header, size_t data) {
    using namespace std::string_literals;
    WriteBytes("\x93NUMPY\x01\x00"s + char(header.size()) + '\0' + header + std::string(data, 'x'));
  }
  Code ReadCode() {
    try {
      ReadNpy(path_);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  }

  const TempPath temp_;
  const std::string path_ = temp_.str();
};

TEST_F(NpyFile, KeepsTypeShapeAndValues) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  for (const Shape& shape : {Shape{2, 3}, Shape{6}, Shape{1, 6, 1}}) {
    WriteNpy(path_, Tensor::Floats(shape, values).view());
    const Tensor back = ReadNpy(path_);
    EXPECT_EQ(back.type(), DType::kF32);
    EXPECT_EQ(back.shape(), shape);
    EXPECT_EQ(back.as<float>()[5], 6);
  }
}

TEST_F(NpyFile, KeepsScalarsAndEmptyTensors) {
  WriteNpy(path_, Tensor(DType::kI64, Shape{}).view());
  EXPECT_EQ(ReadNpy(path_).shape(), Shape{});
  WriteNpy(path_, Tensor(DType::kBool, Shape{0, 3}).view());
  EXPECT_EQ(ReadNpy(path_).shape(), (Shape{0, 3}));
}

TEST_F(NpyFile, DataStartsAlignedAndBf16BecomesF32) {
  Tensor t(DType::kBF16, Shape{1});
  *t.mutable_view().as<uint16_t>() = 0x3fc0;
  WriteNpy(path_, t.view());
  EXPECT_EQ(std::filesystem::file_size(path_) % 64, 4u);
  EXPECT_EQ(*ReadNpy(path_).as<float>(), 1.5f);
}

TEST_F(NpyFile, NarrowTypesBecomeF32OrBytes) {
  Tensor floats(DType::kF8E4M3FN, Shape{1}), integers(DType::kI4, Shape{1});
  *floats.mutable_view().as<uint8_t>() = 0x3c;    // 1.5
  *integers.mutable_view().as<uint8_t>() = 0x0f;  // -1, whatever the high bits
  WriteNpy(path_, floats.view());
  EXPECT_EQ(*ReadNpy(path_).as<float>(), 1.5f);
  WriteNpy(path_, integers.view());
  EXPECT_EQ(ReadNpy(path_).type(), DType::kI8);
  EXPECT_EQ(*ReadNpy(path_).as<int8_t>(), -1);
}

TEST_F(NpyFile, RejectsDamagedFiles) {
  EXPECT_EQ(ReadCode(), Code::kNotFound);
  for (const std::string& bytes : {std::string(), std::string("<html>not numpy</html>"),
                                   std::string("\x93NUMPY\x01\x00\xff\xff{", 11)}) {
    WriteBytes(bytes);
    EXPECT_EQ(ReadCode(), Code::kDataLoss);
  }
  WriteFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7);
  EXPECT_EQ(ReadCode(), Code::kDataLoss);
  WriteFile("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8);
  EXPECT_EQ(ReadCode(), Code::kDataLoss);
  WriteFile("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 8);
  EXPECT_EQ(ReadCode(), Code::kDataLoss);
  WriteFile("{'descr': '<f4', 'fortran_order': False, }", 8);
  EXPECT_EQ(ReadCode(), Code::kDataLoss);
}

TEST_F(NpyFile, NamesWhatItDoesNotSupport) {
  WriteFile("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8);
  EXPECT_EQ(ReadCode(), Code::kUnimplemented);
  WriteFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8);
  EXPECT_EQ(ReadCode(), Code::kUnimplemented);
  WriteFile("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8);
  EXPECT_EQ(ReadCode(), Code::kUnimplemented);
}

TEST_F(NpyFile, RawBytesMustFillTheShapeExactly) {
  WriteBytes("12345678");
  EXPECT_EQ(ReadBin(path_, DType::kF32, Shape{2}).elements(), 2);
  EXPECT_THROW(ReadBin(path_, DType::kF32, Shape{3}), Error);
  EXPECT_THROW(ReadBin(path_, DType::kF32, Shape{1}), Error);
}

}  // namespace
}  // namespace mete
