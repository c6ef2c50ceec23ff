#include "processor/cpu/tuner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"

namespace mete {
namespace {

const std::vector<std::string> kNames{"plain", "clever", "odd"};

double Never(size_t) {
  ADD_FAILURE() << "measured though it was known";
  return 1;
}

std::string Fill(const std::string& path, double first = 5) {
  Tuner tuner(path);
  tuner.Times("a shape", kNames, [&](size_t i) { return first + double(i); });
  tuner.Save();
  return tuner.note();
}

TEST(Tuner, MeasuresOnceAndRemembersInTheFile) {
  const TempPath temp;
  const std::string path = temp.str() + "/folder/times.json";
  EXPECT_EQ(Fill(path), "");
  Tuner again(path);
  const auto times = again.Times("a shape", {"odd", "plain"}, Never);
  EXPECT_EQ(times[0].name, "odd");
  EXPECT_EQ(times[0].us, 7);
  EXPECT_EQ(times[1].us, 5);
  EXPECT_EQ(again.measured(), 0);
  int measured = 0;
  again.Times("a shape", {"plain", "new"}, [&](size_t i) {
    EXPECT_EQ(i, 1u);
    return ++measured;
  });
  again.Times("another shape", {"plain"}, [&](size_t) { return ++measured; });
  EXPECT_EQ(measured, 2);
}

TEST(Tuner, KeepsWhatOthersWroteMeanwhile) {
  const TempPath temp;
  Tuner first(temp.str()), second(temp.str());
  first.Times("one", {"x"}, [](size_t) { return 1; });
  second.Times("two", {"x"}, [](size_t) { return 2; });
  first.Save();
  second.Save();
  Tuner third(temp.str());
  EXPECT_EQ(third.Times("one", {"x"}, Never)[0].us, 1);
  EXPECT_EQ(third.Times("two", {"x"}, Never)[0].us, 2);
}

TEST(Tuner, ADamagedFileIsToldAndWrittenAgain) {
  const TempPath good;
  Fill(good.str());
  std::string text;
  std::getline(std::ifstream(good.str()), text, '\0');
  for (const std::string& bad : {std::string(), text.substr(0, text.size() / 2), std::string("[1, 2]"), std::string("{\"format\": \"mete tuning 0\"}"),
                                 std::string("{\"format\": \"mete tuning 1\", \"times\": {\"a shape\": {\"plain\": \"fast\"}}}"),
                                 std::string(100000, '['), std::string("\xff\xfe\0 no text", 11)}) {
    const TempPath temp;
    std::ofstream(temp.str(), std::ios::binary) << bad;
    Tuner tuner(temp.str());
    EXPECT_NE(tuner.note().find("no file of tuned times"), std::string::npos) << bad.substr(0, 40);
    EXPECT_EQ(tuner.Times("a shape", kNames, [](size_t) { return 3; })[0].us, 3);
    tuner.Save();
    Tuner again(temp.str());
    EXPECT_EQ(again.note(), "");
    EXPECT_EQ(again.Times("a shape", kNames, Never)[0].us, 3);
  }
}

TEST(Tuner, TimesThatCannotBeAreMeasuredAgain) {
  const TempPath temp;
  std::ofstream(temp.str()) << R"({"format": "mete tuning 1", "times": {"a shape": {"plain": 0, "clever": -4, "odd": 2}}})";
  Tuner tuner(temp.str());
  tuner.Times("a shape", kNames, [](size_t) { return 1; });
  EXPECT_EQ(tuner.measured(), 2);
}

TEST(Tuner, AFolderThatCannotBeMadeIsTold) {
  const TempPath file;
  std::ofstream(file.str()) << "a file, no folder";
  EXPECT_NE(Fill(file.str() + "/times.json").find("cannot be written"), std::string::npos);
}

TEST(Choose, TakesTheGuessUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(Choose(nullptr, "k", kNames, Never).index, 0u);
  EXPECT_EQ(Choose(nullptr, "k", kNames, Never).why, "by estimate, before clever; odd");
  EXPECT_EQ(Choose(nullptr, "k", {"plain"}, Never).why, "");
  const auto chosen = [](double plain, double clever, double odd) {
    Tuner tuner;
    return Choose(&tuner, "k", kNames, [&](size_t i) { return i == 0 ? plain : i == 1 ? clever : odd; });
  };
  EXPECT_EQ(chosen(100, 99, 101).index, 0u);
  EXPECT_EQ(chosen(100, 90, 80).index, 2u);
  EXPECT_EQ(chosen(100, 80, 90).index, 1u);
  EXPECT_EQ(chosen(100, 80, 90).why, "clever measured 80.0 us; odd 90.0; plain 100.0");
}

TEST(LeastUs, TimesTheCallAlone) {
  int calls = 0, before = 0;
  const double us = LeastUs([&] { ++calls; }, [&] { ++before; });
  EXPECT_GT(us, 0);
  EXPECT_EQ(calls, before + 1);  // the first call is not counted
}

TEST(TuningFile, IsOfOneProcessorTargetAndVersion) {
  const std::string file = TuningFile("/cache", "A CPU / 2 GHz", "avx2");
  EXPECT_EQ(std::filesystem::path(file).parent_path(), "/cache/tuning");
  EXPECT_NE(file, TuningFile("/cache", "A CPU / 2 GHz", "avx512"));
  EXPECT_NE(file, TuningFile("/cache", "Another CPU", "avx2"));
  EXPECT_EQ(TuningFile("", "A CPU", "avx2"), "");
}

}  // namespace
}  // namespace mete
