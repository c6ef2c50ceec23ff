// Tests of initializers of every type, and of external data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/half.h"
#include "base/temp_path_testing.h"
#include "import/onnx/models_testing.h"
#include "import/onnx/packed.h"
#include "import/onnx/tensors.h"

namespace mete {
namespace {

using namespace onnx_import;

// Returns the initializer "w" after the import of a model that contains it.
Tensor ReadBack(const std::function<void(TensorProto&)>& fill) {
  ModelProto m = EmptyModel();
  TensorProto& t = *m.mutable_graph()->add_initializer();
  t.set_name("w");
  fill(t);
  AddOutput(m, "w");
  return ValueNamed(Import(m).graph, "w").constant;
}

template <class T>
void ExpectRaw(int32_t onnx_type, DType type) {
  const Tensor t = ReadBack([&](TensorProto& p) {
    p.set_data_type(onnx_type);
    p.add_dims(3);
    p.set_raw_data(RawOf<T>({T(1), T(2), T(100)}));
  });
  ASSERT_EQ(t.type(), type);
  ASSERT_EQ(t.shape(), Shape{3});
  EXPECT_EQ(t.as<T>()[0], T(1));
  EXPECT_EQ(t.as<T>()[2], T(100));
}

TEST(Initializers, RawDataOfEveryType) {
  ExpectRaw<float>(TensorProto::FLOAT, DType::kF32);
  ExpectRaw<double>(TensorProto::DOUBLE, DType::kF64);
  ExpectRaw<uint16_t>(TensorProto::FLOAT16, DType::kF16);
  ExpectRaw<uint16_t>(TensorProto::BFLOAT16, DType::kBF16);
  ExpectRaw<int8_t>(TensorProto::INT8, DType::kI8);
  ExpectRaw<uint8_t>(TensorProto::UINT8, DType::kU8);
  ExpectRaw<int16_t>(TensorProto::INT16, DType::kI16);
  ExpectRaw<uint16_t>(TensorProto::UINT16, DType::kU16);
  ExpectRaw<int32_t>(TensorProto::INT32, DType::kI32);
  ExpectRaw<uint32_t>(TensorProto::UINT32, DType::kU32);
  ExpectRaw<int64_t>(TensorProto::INT64, DType::kI64);
  ExpectRaw<uint64_t>(TensorProto::UINT64, DType::kU64);
}

template <class T>
void ExpectTyped(int32_t onnx_type, DType type, const std::function<void(TensorProto&)>& add_seven) {
  const Tensor t = ReadBack([&](TensorProto& p) {
    p.set_data_type(onnx_type);
    p.add_dims(1);
    add_seven(p);
  });
  ASSERT_EQ(t.type(), type);
  EXPECT_EQ(t.as<T>()[0], T(7));
}

TEST(Initializers, TypedDataOfEveryType) {
  ExpectTyped<float>(TensorProto::FLOAT, DType::kF32, [](auto& p) { p.add_float_data(7); });
  ExpectTyped<double>(TensorProto::DOUBLE, DType::kF64, [](auto& p) { p.add_double_data(7); });
  ExpectTyped<int64_t>(TensorProto::INT64, DType::kI64, [](auto& p) { p.add_int64_data(7); });
  ExpectTyped<uint64_t>(TensorProto::UINT64, DType::kU64, [](auto& p) { p.add_uint64_data(7); });
  ExpectTyped<uint32_t>(TensorProto::UINT32, DType::kU32, [](auto& p) { p.add_uint64_data(7); });
  auto add_int32 = [](TensorProto& p) { p.add_int32_data(7); };
  ExpectTyped<int32_t>(TensorProto::INT32, DType::kI32, add_int32);
  ExpectTyped<int16_t>(TensorProto::INT16, DType::kI16, add_int32);
  ExpectTyped<uint16_t>(TensorProto::UINT16, DType::kU16, add_int32);
  ExpectTyped<int8_t>(TensorProto::INT8, DType::kI8, add_int32);
  ExpectTyped<uint8_t>(TensorProto::UINT8, DType::kU8, add_int32);
  ExpectTyped<bool>(TensorProto::BOOL, DType::kBool, add_int32);
  ExpectTyped<uint16_t>(TensorProto::FLOAT16, DType::kF16, add_int32);
  ExpectTyped<uint16_t>(TensorProto::BFLOAT16, DType::kBF16, add_int32);
}

TEST(Initializers, BoolsOtherThanZeroAndOneBecomeOne) {
  const Tensor t = ReadBack([](TensorProto& p) {
    p.set_data_type(TensorProto::BOOL);
    p.add_dims(3);
    p.set_raw_data(std::string("\x00\x02\x01", 3));
  });
  EXPECT_EQ(t.as<uint8_t>()[0], 0);
  EXPECT_EQ(t.as<uint8_t>()[1], 1);
}

TEST(Initializers, AlignedRawDataStaysInTheFile) {
  ModelProto m = EmptyModel();
  AddRaw(m, "b", TensorProto::UINT8, {3}, "abc");
  AddRaw(m, "f", TensorProto::FLOAT, {2}, RawOf<float>({1, 2}));
  AddOutput(m, "b");
  auto file = std::make_shared<std::string>(m.SerializeAsString());
  const Imported r = ImportOnnx(std::as_bytes(std::span(*file)), file, "test.onnx", "", {});
  const auto inside = [&](const Tensor& t) {
    return t.as<char>() >= file->data() && t.as<char>() < file->data() + file->size();
  };
  EXPECT_TRUE(inside(ValueNamed(r.graph, "b").constant));
  const size_t at = file->find(RawOf<float>({1, 2}));
  EXPECT_EQ(inside(ValueNamed(r.graph, "f").constant),
            reinterpret_cast<uintptr_t>(file->data() + at) % 4 == 0);
  EXPECT_EQ(ValueNamed(r.graph, "f").constant.as<float>()[1], 2);
  EXPECT_EQ(file.use_count(), 1 + inside(ValueNamed(r.graph, "f").constant) + 1);
}

constexpr int32_t kInt4 = 22;  // the installed schema may be older

enum class Place { kRaw, kTyped };

// Returns the bytes in memory of "w" after the import of a model that stores them in `raw` as `type`.
std::vector<uint8_t> Unpacked(int32_t type, int64_t count, const std::string& raw, Place place) {
  ModelProto m = EmptyModel(21);
  if (place == Place::kRaw) AddRaw(m, "w", type, {count}, raw);
  else {
    TensorProto& t = *m.mutable_graph()->add_initializer();
    t.set_name("w");
    t.set_data_type(type);
    t.add_dims(count);
    for (char c : raw) t.add_int32_data(uint8_t(c));
  }
  AddInt(AddOp(m, "Cast", {"w"}, {"y"}), "to", TensorProto::FLOAT);
  AddOutput(m, "y");
  const Tensor t = ValueNamed(Import(m).graph, "w").constant;
  EXPECT_EQ(OnnxTypeOf(t.type()), type);
  return {t.as<uint8_t>(), t.as<uint8_t>() + t.elements()};
}

TEST(Initializers, ElementsThatShareBytesGetOneEach) {
  using Bytes = std::vector<uint8_t>;
  for (const Place place : {Place::kRaw, Place::kTyped}) {
    EXPECT_EQ(Unpacked(22, 3, "\x7f\x08", place), (Bytes{0xff, 7, 0xf8}));
    EXPECT_EQ(Unpacked(21, 3, "\x7f\x08", place), (Bytes{15, 7, 8}));
    EXPECT_EQ(Unpacked(25, 5, "\xe4\x02", place), (Bytes{0, 1, 2, 3, 2}));
    EXPECT_EQ(Unpacked(26, 5, "\xe4\x02", place), (Bytes{0, 1, 0xfe, 0xff, 0xfe}));
    EXPECT_EQ(Unpacked(23, 3, "\x1f\xf2", place), (Bytes{15, 1, 2}));
    for (const int32_t type : {17, 18, 19, 20, 24})
      EXPECT_EQ(Unpacked(type, 3, "\x01\x80\xff", place), (Bytes{1, 0x80, 0xff}));
  }
}

TEST(Initializers, PackedAgainTheyHaveTheSameBytes) {
  const std::string raw = "\x7f\x08\xe4\x02\x99";
  for (const int32_t type : {17, 18, 19, 20, 21, 22, 23, 24, 25, 26}) {
    Tensor t(DTypeOfOnnx(type), {int64_t(IsPacked(DTypeOfOnnx(type)) ? (type >= 25 ? 20 : 10) : 5)});
    ASSERT_EQ(PackedBytes(t.type(), size_t(t.elements())), raw.size());
    if (IsPacked(t.type())) Unpack({reinterpret_cast<const uint8_t*>(raw.data()), raw.size()}, t);
    else std::memcpy(t.mutable_view().data, raw.data(), raw.size());
    EXPECT_EQ(Packed(t), raw) << type;
  }
  Tensor odd(DType::kU2, {3});
  std::fill_n(odd.mutable_view().as<uint8_t>(), 3, uint8_t{0xff});
  EXPECT_EQ(Packed(odd), "\x3f") << "bits that the type lacks are no part of a file";
}

TEST(Initializers, PackedElementsMustFillTheShape) {
  for (const char* raw : {"\x7f", "\x7f\x08\x01"}) {
    ModelProto m = EmptyModel(21);
    AddRaw(m, "w", kInt4, {3}, raw);
    AddOutput(m, "w");
    EXPECT_TRUE(Contains(ImportError(m), "raw data does not fill i4 3"));
  }
}

ModelProto NarrowModel(const std::string& op, const std::vector<std::string>& inputs) {
  ModelProto m = EmptyModel(21);
  AddInput(m, "x", {2, 2});
  AddRaw(m, "w", kInt4, {2, 2}, "\x21\x43");
  AddRaw(m, "shape", TensorProto::INT64, {1}, RawOf<int64_t>({4}));
  AddOp(m, op, inputs, {"y"}, "n");
  AddOutput(m, "y");
  return m;
}

TEST(Initializers, NarrowTypesAreMoved) {
  using Call = std::pair<std::string, std::vector<std::string>>;
  for (const auto& [op, inputs] :
       {Call{"Identity", {"w"}}, Call{"Reshape", {"w", "shape"}}, Call{"Transpose", {"w"}},
        Call{"CastLike", {"w", "x"}}, Call{"CastLike", {"x", "w"}}, Call{"Concat", {"w", "w"}}}) {
    ModelProto m = NarrowModel(op, inputs);
    if (op == "Concat") AddInt(*m.mutable_graph()->mutable_node(0), "axis", 0);
    EXPECT_EQ(ImportError(m), "") << op;
  }
}

TEST(Initializers, NarrowTypesThatSomethingComputesWithAreRefused) {
  EXPECT_TRUE(Contains(ImportError(NarrowModel("Add", {"w", "w"})),
                       "[n] operator Add does not compute with element type i4; expected a Cast or "
                       "DequantizeLinear first"));
}

TEST(Initializers, UnsupportedTypesAreAllListed) {
  ModelProto m = ReluModel();
  AddRaw(m, "a", TensorProto::STRING, {1}, "x");
  AddRaw(m, "b", TensorProto::COMPLEX64, {1}, "12345678");
  AddRaw(m, "c", 99, {1}, "x");
  const std::string error = ImportError(m);
  EXPECT_TRUE(StartsWith(error, "UNIMPLEMENTED: "));
  for (const char* type : {"STRING", "COMPLEX64; no operator here computes with complex numbers", "type 99"})
    EXPECT_TRUE(Contains(error, type));
}

TEST(Initializers, DataMustFillTheShape) {
  ModelProto m = ReluModel();
  TensorProto& t = AddRaw(m, "w", TensorProto::FLOAT, {2}, "1234");
  EXPECT_TRUE(
      Contains(ImportError(m), "initializer 'w'] raw data does not fill f32 2; got 4 bytes, expected 8"));
  t.clear_raw_data();
  EXPECT_TRUE(Contains(ImportError(m), "has no data; expected 2 elements"));
  t.add_float_data(1);
  EXPECT_TRUE(Contains(ImportError(m), "values do not fill the shape 2; got 1, expected 2"));
  t.set_raw_data("12345678");
  EXPECT_TRUE(Contains(ImportError(m), "has both raw and typed data"));
}

TEST(Initializers, ImpossibleDimensionsAreErrors) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{-1}, {int64_t(1) << 40, int64_t(1) << 40}, {int64_t(1) << 40}}) {
    ModelProto m = ReluModel();
    AddRaw(m, "w", TensorProto::FLOAT, dims, "1234");
    EXPECT_TRUE(Contains(ImportError(m), "impossible dimensions"));
  }
  ModelProto m = ReluModel();
  AddRaw(m, "w", TensorProto::FLOAT, std::vector<int64_t>(9, 1), "1234");
  EXPECT_TRUE(Contains(ImportError(m), "too many dimensions; got 9"));
}

TEST(Initializers, ADimensionOfZeroMakesAnEmptyConstant) {
  EXPECT_EQ(ReadBack([](TensorProto& p) {
              p.set_data_type(TensorProto::FLOAT);
              p.add_dims(0);
            }).elements(),
            0);
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "model" / "sub");
    Write("model/sub/weights.bin", RawOf<float>({1, 2, 3, 4}));
    Write("secret.bin", RawOf<float>({1, 2, 3, 4}));
  }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  ModelProto Model(const std::vector<std::pair<std::string, std::string>>& entries) {
    ModelProto m = EmptyModel();
    TensorProto& t = *m.mutable_graph()->add_initializer();
    t.set_name("w");
    t.set_data_type(TensorProto::FLOAT);
    t.add_dims(2);
    t.set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* e = t.add_external_data();
      e->set_key(key);
      e->set_value(value);
    }
    AddOutput(m, "w");
    return m;
  }

  std::string ErrorFor(const std::vector<std::pair<std::string, std::string>>& entries) {
    return ImportError(Model(entries), {}, (folder_ / "model").string());
  }

  const TempPath temp_;
  const std::filesystem::path folder_ = temp_.str();
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  const ModelProto m =
      Model({{"location", "sub/weights.bin"}, {"offset", "4"}, {"length", "8"}, {"checksum", "0"}});
  const Imported r = Import(m, {}, (folder_ / "model").string());
  EXPECT_EQ(ValueNamed(r.graph, "w").constant.as<float>()[0], 2);
}

TEST_F(ExternalData, IsFoundBesideTheModelFile) {
  Write("model/m.onnx", Model({{"location", "sub/weights.bin"}}).SerializeAsString());
  const Imported r = ImportOnnx((folder_ / "model" / "m.onnx").string(), ImportOptions{});
  EXPECT_EQ(ValueNamed(r.graph, "w").constant.as<float>()[1], 2);
}

TEST_F(ExternalData, AtAnOddOffsetIsCopied) {
  Write("model/odd.bin", RawOf<float>({5, 6}).insert(0, 1, '.'));
  const Imported r =
      Import(Model({{"location", "odd.bin"}, {"offset", "1"}}), {}, (folder_ / "model").string());
  EXPECT_EQ(ValueNamed(r.graph, "w").constant.as<float>()[1], 6);
}

TEST_F(ExternalData, MissingOrTooShortIsAnError) {
  EXPECT_TRUE(StartsWith(ErrorFor({{"location", "none.bin"}}), "NOT_FOUND: "));
  EXPECT_TRUE(Contains(ErrorFor({{"location", "sub/weights.bin"}, {"offset", "12"}}),
                       "is too short; got 16 bytes, expected 8 from byte 12"));
  EXPECT_TRUE(Contains(ErrorFor({{"location", "sub/weights.bin"}, {"offset", "18446744073709551615"}}),
                       "is too short"));
  EXPECT_TRUE(Contains(ErrorFor({{"location", "sub/weights.bin"}, {"length", "4"}}), "does not fill"));
  EXPECT_TRUE(
      Contains(ErrorFor({{"location", "sub/weights.bin"}, {"offset", "-1"}}), "bad offset; got '-1'"));
  EXPECT_TRUE(Contains(ErrorFor({{"location", "sub"}}), "is not a regular file"));
  EXPECT_TRUE(Contains(ErrorFor({}), "has no location"));
  EXPECT_TRUE(
      Contains(ImportError(Model({{"location", "a"}})), "in a model that was not read from a folder"));
}

TEST_F(ExternalData, OutsideTheModelsFolderIsAnError) {
  EXPECT_TRUE(Contains(ErrorFor({{"location", "../secret.bin"}}), "outside the model's folder"));
  EXPECT_TRUE(
      Contains(ErrorFor({{"location", (folder_ / "secret.bin").string()}}), "outside the model's folder"));
  std::filesystem::create_symlink(folder_ / "secret.bin", folder_ / "model" / "link.bin");
  EXPECT_TRUE(Contains(ErrorFor({{"location", "link.bin"}}), "outside the model's folder"));
  std::filesystem::create_symlink("sub/weights.bin", folder_ / "model" / "inside.bin");
  EXPECT_EQ(ErrorFor({{"location", "inside.bin"}}), "");
}

}  // namespace
}  // namespace mete
