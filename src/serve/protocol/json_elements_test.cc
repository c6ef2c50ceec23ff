#include "serve/protocol/json_elements.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "base/visit_type.h"
#include "serve/protocol/requests_testing.h"

namespace mete::serve {
namespace {

NamedTensor Read(DType type, const Shape& shape, std::string_view list) {
  return TensorOfList("input 'x'", {type, shape, shape.Elements()}, list);
}

template <class T>
std::vector<T> Elements(DType type, const Shape& shape, std::string_view list) {
  const Tensor tensor = Read(type, shape, list).tensor;
  EXPECT_EQ(tensor.type(), type);
  EXPECT_EQ(tensor.shape(), shape);
  return std::vector<T>(tensor.as<T>(), tensor.as<T>() + tensor.elements());
}

std::string Written(const NamedTensor& tensor) {
  std::string json;
  AppendList(tensor, json);
  return json;
}

TEST(TensorOfList, ReadsEachTypeUpToItsRange) {
  EXPECT_EQ(Elements<bool>(DType::kBool, {2}, "[true, false]"), (std::vector<bool>{true, false}));
  EXPECT_EQ(Elements<uint8_t>(DType::kU8, {3}, "[0,255,-0]"), (std::vector<uint8_t>{0, 255, 0}));
  EXPECT_EQ(Elements<uint16_t>(DType::kU16, {1}, "[65535]"), (std::vector<uint16_t>{65535}));
  EXPECT_EQ(Elements<uint32_t>(DType::kU32, {1}, "[4294967295]"), (std::vector<uint32_t>{4294967295u}));
  EXPECT_EQ(Elements<uint64_t>(DType::kU64, {1}, "[18446744073709551615]"),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(Elements<int8_t>(DType::kI8, {2}, "[-128,127]"), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(Elements<int16_t>(DType::kI16, {2}, "[-32768,32767]"), (std::vector<int16_t>{-32768, 32767}));
  EXPECT_EQ(Elements<int32_t>(DType::kI32, {2}, "[-2147483648,2147483647]"),
            (std::vector<int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(Elements<int64_t>(DType::kI64, {2}, "[-9223372036854775808,9223372036854775807]"),
            (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(Elements<uint16_t>(DType::kF16, {3}, "[1,65504,-2.5]").size(), 3u);
  EXPECT_EQ(Elements<float>(DType::kF32, {4}, "[0.1,-1.5E+2,3,3.4028234663852886e38]"),
            (std::vector<float>{0.1f, -150, 3, std::numeric_limits<float>::max()}));
  EXPECT_EQ(Elements<double>(DType::kF64, {2}, "[0.1,1.7976931348623157e308]"),
            (std::vector<double>{0.1, std::numeric_limits<double>::max()}));
}

TEST(TensorOfList, RoundsFloatsToTheNearest) {
  // 2^24 + 1 is between two floats; a little more is nearer to the upper one. By way of a double both would
  // become the same.
  EXPECT_EQ(Elements<float>(DType::kF32, {2}, "[16777217.0,16777217.00000000000001]"),
            (std::vector<float>{16777216, 16777218}));
  const Tensor halves = Read(DType::kF16, {2}, "[0.1,1e-7]").tensor;
  EXPECT_EQ(halves.as<uint16_t>()[0], 0x2e66);
  EXPECT_EQ(halves.as<uint16_t>()[1], 2);
  EXPECT_EQ(Read(DType::kBF16, {1}, "[1.01]").tensor.as<uint16_t>()[0], 0x3f81);
}

TEST(TensorOfList, ReadsWhatIsSmallerThanAnyNumberAsZero) {
  const auto floats = Elements<float>(DType::kF32, {4}, "[1e-60,-1e-60,-0,1e-45]");
  EXPECT_EQ(floats, (std::vector<float>{0, 0, 0, std::numeric_limits<float>::denorm_min()}));
  EXPECT_TRUE(!std::signbit(floats[0]) && std::signbit(floats[1]) && std::signbit(floats[2]));
  const std::string tiny = "0." + std::string(400, '0') + "1", one = "1" + std::string(400, '0') + "e-400";
  EXPECT_EQ(
      Elements<double>(DType::kF64, {4}, "[" + tiny + ",-" + tiny + "," + one + ",1e-99999999999999999999]"),
      (std::vector<double>{0, 0, 1, 0}));
}

TEST(TensorOfList, ReadsWordsForNanAndInfinities) {
  for (const DType type : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const NamedTensor read = Read(type, {6}, R"(["NaN",NaN,"Infinity",Infinity,"-Infinity",-Infinity])");
    EXPECT_EQ(Written(read), R"(["NaN","NaN","Infinity","Infinity","-Infinity","-Infinity"])");
  }
}

TEST(TensorOfList, NamesTheElementThatIsNone) {
  const auto error = [](DType type, const std::string& list) {
    return ErrorOf([&] { Read(type, {2}, list); });
  };
  EXPECT_EQ(
      error(DType::kI8, "[1,128]"),
      "[input 'x'] element 1 of 'data' is no INT8; got '128', expected a whole number from -128 to 127");
  EXPECT_EQ(error(DType::kU8, "[-1,0]"),
            "[input 'x'] element 0 of 'data' is no UINT8; got '-1', expected a whole number from 0 to 255");
  EXPECT_EQ(error(DType::kBool, "[1,0]"),
            "[input 'x'] element 0 of 'data' is no BOOL; got '1', expected true or false");
  EXPECT_EQ(
      error(DType::kF32, "[1,null]"),
      "[input 'x'] element 1 of 'data' is no FP32; got 'null', expected a number up to 3.403e+38, \"NaN\", "
      "\"Infinity\" or \"-Infinity\"");
  EXPECT_EQ(
      error(DType::kF16, "[1,65520]"),
      "[input 'x'] element 1 of 'data' is no FP16; got '65520', expected a number up to 6.55e+04, \"NaN\", "
      "\"Infinity\" or \"-Infinity\"");
  EXPECT_EQ(error(DType::kUnknown, "[\"a\",1]"),
            "[input 'x'] element 1 of 'data' is no BYTES; got '1', expected a string of UTF-8");
}

TEST(TensorOfList, RefusesWhatIsNoJson) {
  for (const char* bad :
       {"01",  "1.",    ".5", "+1",  "1e",   "1e+", "0x10",  "--1", "inf",  "nan",  "1 2",   "1.5.5",
        "'1'", "\"1\"", "{}", "[1]", "true", "-",   "1_000", "Inf", "NaNs", "1e39", "-1e39", "1.e5"}) {
    SCOPED_TRACE(bad);
    EXPECT_TELLS(Read(DType::kF32, {2}, std::string("[0,") + bad + "]"),
                 "[input 'x'] element 1 of 'data' is no FP32");
  }
  EXPECT_TELLS(Read(DType::kF32, {2}, "[0,1,]"), "element 2 of 'data' is no FP32; got ']'");
  for (const char* bad : {"1.0", "1e2", "01", "-", "9223372036854775808", "\"1\"", "true", "1 2", "0x1"}) {
    SCOPED_TRACE(bad);
    EXPECT_TELLS(Read(DType::kI64, {2}, std::string("[0,") + bad + "]"), "element 1 of 'data' is no INT64");
  }
  for (const char* bad : {"tru", "True", "trueish", "\"true\""})
    EXPECT_TELLS(Read(DType::kBool, {1}, std::string("[") + bad + "]"), "element 0 of 'data' is no BOOL");
  for (const char* bad : {"\"\\x\"", "\"\xff\"", "\"\n\"", "a", "\"\\ud800\"", "\"a\" \"b\""})
    EXPECT_TELLS(Read(DType::kUnknown, {1}, std::string("[") + bad + "]"), "element 0 of 'data' is no BYTES");
}

TEST(TensorOfList, ReadsTexts) {
  EXPECT_EQ(Read(DType::kUnknown, {2, 2}, R"([["a","],["],["\u00e9\n","é😀"]])").texts,
            (std::vector<std::string>{"a", "],[", "é\n", "é😀"}));
  EXPECT_TRUE(Read(DType::kUnknown, {0}, "[]").is_bytes());
}

TEST(TensorOfList, TakesFlatListsAndThoseOfTheShape) {
  const std::vector<int32_t> six = {1, 2, 3, 4, 5, 6};
  for (const char* list :
       {"[1,2,3,4,5,6]", "[[[1,2,3]],[[4,5,6]]]", " [ [ [ 1 , 2 ,\n3 ] ],[ [4,5,6\t] ] ]"}) {
    const std::string_view trimmed = std::string_view(list).substr(std::string_view(list).find('['));
    EXPECT_EQ(Elements<int32_t>(DType::kI32, {2, 1, 3}, trimmed), six) << list;
  }
  EXPECT_EQ(Elements<int32_t>(DType::kI32, {}, "[7]"), (std::vector<int32_t>{7}));
  for (const auto& [shape, list] : std::vector<std::pair<Shape, const char*>>{
           {{0}, "[]"}, {{2, 0}, "[]"}, {{2, 0}, "[[],[]]"}, {{0, 2}, "[ ]"}})
    EXPECT_TRUE(Elements<int32_t>(DType::kI32, shape, list).empty()) << list;
}

TEST(TensorOfList, SaysWhatDoesNotFitTheShape) {
  const auto error = [](const Shape& shape, const char* list) {
    return ErrorOf([&] { Read(DType::kI32, shape, list); });
  };
  const std::string start = "[input 'x'] 'data' ";
  EXPECT_EQ(error({2, 2}, "[1,2,3]"), start + "does not fit the shape; got 3 elements, expected 4 for 2x2");
  EXPECT_EQ(error({2}, "[1,2,3]"), start + "does not fit the shape; got 3 elements, expected 2 for 2");
  EXPECT_EQ(error({1000, 1000}, "[1]"),
            start + "does not fit the shape; got 1 elements, expected 1000000 for 1000x1000");
  EXPECT_EQ(error({2, 2}, "[[1,2],[3]]"),
            start + "does not fit the shape; got a list of 1 at level 2, expected 2 for 2x2");
  EXPECT_EQ(error({2, 2}, "[[1,2]]"),
            start + "does not fit the shape; got a list of 1 at level 1, expected 2 for 2x2");
  EXPECT_EQ(error({2}, "[[1,2]]"), start + "has lists within a list; got the shape 2, expected a flat list");
  EXPECT_EQ(error({1, 2, 1}, "[[1,2]]"),
            start + "is nested less deep than its shape; got 2 levels, expected one or 3 for 1x2x1");
  EXPECT_EQ(error({2, 2}, "[[1,2] [3,4]]"), start + "has lists and elements side by side");
}

TEST(TensorOfList, AsksForNoMemoryThatTheTextCannotFill) {
  const Shape huge({int64_t(1) << 31, int64_t(1) << 9});  // 4 TiB of floats
  EXPECT_TELLS(Read(DType::kF32, huge, "[1,2]"), "got 2 elements, expected 1099511627776");
  EXPECT_TELLS(Read(DType::kUnknown, huge, "[\"a\"]"), "got 1 elements, expected 1099511627776");
}

TEST(AppendList, WritesTheFewestDigitsThatReadBack) {
  NamedTensor t;
  t.tensor = Tensor::Floats({6}, std::vector<float>{0.1f, 1, -0.0f, 1e20f, 16777216, 1e-45f});
  EXPECT_EQ(Written(t), "[0.1,1,-0,1e+20,16777216,1e-45]");
  t = {};
  t.texts = {"a\"\n", "\xff", "é"};
  EXPECT_EQ(Written(t), "[\"a\\\"\\n\",\"\xef\xbf\xbd\",\"é\"]");
}

TEST(AppendList, GivesBackTheSameBitsOfEachType) {
  Random random(29);
  for (const DType type : kAllTypes) {
    NamedTensor t;
    t.shape = {3, 100};
    t.tensor = RandomTensor(type, t.shape, random);
    ExpectSame(t, Read(type, t.shape, Written(t)));
  }
}

}  // namespace
}  // namespace mete::serve
