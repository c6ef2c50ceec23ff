#include "machine/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temp_path_testing.h"
#include "mete/error.h"

namespace mete {
namespace {

using Cores = std::vector<int>;

const std::string kHead = R"(name = "Toy"
[memory]
gib = { value = 2, source = "data sheet" }
gbytes_per_s = { value = 10, source = "estimate: half of nominal" }
)";

// Returns the text of a cluster with four cores; the lines in `changes` replace those of the same key.
std::string ClusterText(std::initializer_list<std::pair<std::string, std::string>> changes = {}) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"name", "\"little\""},
      {"core", "\"Cortex-A53\""},
      {"cores", "\"0-3\""},
      {"source", "\"data sheet\""},
      {"caches",
       "[{ level = 1, kib = 32, shared_by = 1, source = \"manual\" }, "
       "{ level = 2, kib = 512, shared_by = \"all\", source = \"manual\" }]"}};
  const std::pair<const char*, const char*> figures[] = {{"min_mhz", "400"},
                                                         {"max_mhz", "1000"},
                                                         {"f32_flops_per_cycle", "8"},
                                                         {"int8_ops_per_cycle", "16"},
                                                         {"compute_share", "0.5"},
                                                         {"depthwise_share", "0.1"},
                                                         {"gbytes_per_s", "4"},
                                                         {"dequeue_ns", "100"},
                                                         {"barrier_us", "2"},
                                                         {"wake_us", "50"},
                                                         {"idle_w", "0.1"},
                                                         {"active_w", "0.4"},
                                                         {"power_exponent", "2"}};
  for (const auto& [key, value] : figures)
    lines.emplace_back(key, std::string("{ value = ") + value + ", source = \"estimate\" }");
  for (const auto& [key, value] : changes) {
    const auto at =
        std::find_if(lines.begin(), lines.end(), [&, k = key](const auto& line) { return line.first == k; });
    if (at == lines.end()) lines.emplace_back(key, value);
    else at->second = value;
  }
  std::string text = "[[cluster]]\n";
  for (const auto& [key, value] : lines)
    if (!value.empty()) text += key + " = " + value + "\n";
  return text;
}

const std::string kBig =
    ClusterText({{"name", "\"big\""},
                 {"cores", "\"4-7\""},
                 {"threads_per_core", "2"},
                 {"f32_flops_per_cycle", "{ value = 16, source = \"2 pipes x 4 lanes x 2\" }"}});

std::string ErrorOf(const std::string& text) {
  try {
    ParseMachineFile(text, "toy.toml");
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

void ExpectError(const std::string& text, const std::string& part) {
  const std::string error = ErrorOf(text);
  EXPECT_NE(error.find(part), error.npos) << "expected: " << part << "\ngot: " << error;
}

// Returns the text of a GPU; the values in `changes` replace those of the same key.
std::string GpuText(std::initializer_list<std::pair<std::string, std::string>> changes = {}) {
  std::string text = "[[gpu]]\nname = \"Toy GPU\"\nsource = \"data sheet\"\n";
  double value = 1;  // every figure another one, all within their bounds
  for (const GpuFigureKey& k : GpuFigureKeys()) {
    const auto at =
        std::find_if(changes.begin(), changes.end(), [&](const auto& c) { return c.first == k.key; });
    value += 0.25;
    const std::string number = at != changes.end() ? at->second : std::to_string(std::min(value, k.most));
    text += std::string(k.key) + " = { value = " + number + ", source = \"estimate\" }\n";
  }
  return text;
}

TEST(MachineFile, ReadsGpus) {
  const MachineFile f =
      ParseMachineFile(kHead + ClusterText() +
                           GpuText({{"compute_units", "4"}, {"mhz", "500"}, {"f32_flops_per_cycle", "32"}}),
                       "toy.toml");
  ASSERT_EQ(f.gpus.size(), 1u);
  EXPECT_EQ(f.gpus[0].name, "Toy GPU");
  EXPECT_EQ(f.gpus[0].source, "data sheet");
  const GpuFigures& gpu = f.gpus[0].figures;
  EXPECT_DOUBLE_EQ(gpu.peak_gflops(gpu.f32_flops_per_cycle), 64);
  EXPECT_DOUBLE_EQ(gpu.f16_flops_per_cycle.value, 2);
  EXPECT_DOUBLE_EQ(gpu.active_w.value, 5.5);
  EXPECT_EQ(f.machine.clusters.size(), 1u);  // a GPU is no cluster of cores
  const auto json = nlohmann::json::parse(ToJson(f));
  EXPECT_EQ(json["gpus"][0]["f32_gflops"], 64);
  EXPECT_EQ(json["gpus"][0]["figures"]["mhz"]["source"], "estimate");
  EXPECT_TRUE(ParseMachineFile(kHead + ClusterText(), "toy.toml").gpus.empty());
}

TEST(MachineFile, RefusesGpusThatContradictThemselvesAllAtOnce) {
  const std::string text =
      kHead + ClusterText() +
      GpuText(
          {{"launch_us", "9"}, {"drained_launch_us", "8"}, {"gbytes_per_s", "11"}, {"cpu_slowed", "0.5"}}) +
      GpuText() + "hertz = 1\n";
  try {
    ParseMachineFile(text, "toy.toml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    for (const char* problem : {"gpu 'Toy GPU': 'launch_us' is more than 'drained_launch_us'; got 9 and 8",
                                "'gbytes_per_s' is more than the memory's; got 11, expected 10 at most",
                                "cpu_slowed", "another GPU has this name too", "hertz"})
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << problem << "\n"
                                                                            << error.what();
  }
}

TEST(MachineFile, ReadsAllFigures) {
  const MachineFile f = ParseMachineFile(kHead + ClusterText() + kBig, "toy.toml");
  EXPECT_EQ(f.machine.name, "Toy");
  EXPECT_EQ(f.machine.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(f.memory_gbytes_per_s.value, 10);
  EXPECT_TRUE(f.memory_gbytes_per_s.is_estimate());
  ASSERT_EQ(f.machine.clusters.size(), 2u);
  const Cluster &big = f.machine.clusters[0], &little = f.machine.clusters[1];
  EXPECT_EQ(big.name, "big");  // the faster cluster comes first, though it is the second in the file
  EXPECT_EQ(big.siblings, (std::vector<Cores>{{4, 5}, {6, 7}}));
  EXPECT_EQ(big.capacity, 1);
  EXPECT_EQ(little.capacity, 0.5);
  EXPECT_EQ(little.capacity_source, CapacitySource::kFile);
  EXPECT_EQ(little.core, "Cortex-A53");
  EXPECT_EQ(little.frequency.min_khz, 400000);
  EXPECT_EQ(little.frequency.max_khz, 1000000);
  EXPECT_EQ(little.caches[0].shared, (std::vector<Cores>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(little.caches[1].shared, (std::vector<Cores>{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(little.cache_bytes(2), 512 << 10);
  const ClusterFigures& figures = f.clusters[1];
  const double expected[] = {400, 1000, 8, 16, 0.5, 0.1, 4, 100, 2, 50, 0.1, 0.4, 2};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ((figures.*ClusterFigureKeys()[i].figure).value, expected[i]);
  EXPECT_EQ(f.clusters[0].f32_flops_per_cycle.source, "2 pipes x 4 lanes x 2");
  EXPECT_FALSE(f.clusters[0].f32_flops_per_cycle.is_estimate());
  EXPECT_EQ(figures.cache_kib[1].source, "manual");
  EXPECT_DOUBLE_EQ(figures.f32_gflops(), 8);
  EXPECT_DOUBLE_EQ(figures.int8_gops(), 16);
  EXPECT_DOUBLE_EQ(figures.active_watts(500), 0.1);
  EXPECT_EQ(f.machine.affinity.allowed.size(), 8u);
}

TEST(MachineFile, JsonHasFiguresWithTheirSources) {
  const auto j = nlohmann::json::parse(ToJson(ParseMachineFile(kHead + ClusterText() + kBig, "toy.toml")));
  EXPECT_EQ(j["memory"]["gbytes_per_s"]["source"], "estimate: half of nominal");
  EXPECT_EQ(j["clusters"][0]["f32_gflops"], 16);
  EXPECT_EQ(j["clusters"][1]["figures"]["idle_w"]["value"], 0.1);
  EXPECT_EQ(j["clusters"][1]["figures"]["cache_kib"][0]["source"], "manual");
}

TEST(MachineFile, RefusesFiguresWithoutASource) {
  ExpectError(kHead + ClusterText({{"max_mhz", "1000"}}),
              "cluster 'little': 'max_mhz' has no source; got 1000");
  ExpectError(kHead + ClusterText({{"max_mhz", "{ value = 1000 }"}}),
              "cluster 'little': max_mhz: 'source' is missing");
  ExpectError(kHead + ClusterText({{"max_mhz", "{ value = 1000, source = \" \" }"}}),
              "'source' is wrong; got ' '");
  ExpectError(kHead + ClusterText({{"max_mhz", "{ value = 1000, source = 7 }"}}), "'source' is wrong; got 7");
  ExpectError(kHead + ClusterText({{"source", ""}}), "cluster 'little': 'source' is missing");
  ExpectError(kHead + ClusterText({{"caches", "[{ level = 1, kib = 32, shared_by = 1 }]"}}),
              "cluster 'little': caches: 'source' is missing");
}

TEST(MachineFile, RefusesUnknownKeysWithTheNearest) {
  ExpectError(
      "nmae = \"x\"\n" + kHead + ClusterText(),
      "[toy.toml:1] machine: unknown key 'nmae', expected one of name, memory, cluster, gpu; try name");
  ExpectError(kHead + ClusterText({{"max_mzh", "1"}}), "unknown key 'max_mzh'; try max_mhz");
  ExpectError(kHead + ClusterText({{"idle_w", "{ value = 1, source = \"estimate\", unit = \"W\" }"}}),
              "unknown key 'unit', expected one of value, source");
}

TEST(MachineFile, RefusesNonsense) {
  for (const char* value : {"nan", "inf", "-inf", "-1", "1e300", "0", "\"1800\"", "true", "[1]", "1e5"})
    ExpectError(kHead + ClusterText({{"max_mhz", std::string("{ value = ") + value + ", source = \"x\" }"}}),
                "max_mhz: 'value' is not believed");
  for (const char* value : {"nan", "-0.5", "1.5", "0"})
    ExpectError(
        kHead + ClusterText({{"compute_share", std::string("{ value = ") + value + ", source = \"x\" }"}}),
        "compute_share: 'value'");
  for (const char* cores : {"0-999999999", "0-4294967295", "-1", "banana", "3-1"})
    ExpectError(kHead + ClusterText({{"cores", '"' + std::string(cores) + '"'}}),
                "'cores' is wrong; got '" + std::string(cores));
  ExpectError(kHead + ClusterText({{"cores", "4"}}), "'cores' is wrong; got 4, expected a text");
  for (const char* threads : {"0", "-2", "1000000000", "1.5", "nan"})
    ExpectError(kHead + ClusterText({{"threads_per_core", threads}}), "'threads_per_core'");
}

TEST(MachineFile, RefusesContradictions) {
  ExpectError(kHead + ClusterText({{"threads_per_core", "3"}}),
              "'threads_per_core' does not divide the cores; got 3 for 4 cores");
  ExpectError(kHead + ClusterText({{"min_mhz", "{ value = 2000, source = \"x\" }"}}),
              "min_mhz is above max_mhz");
  ExpectError(kHead + ClusterText({{"gbytes_per_s", "{ value = 11, source = \"x\" }"}}),
              "is more than the memory's; got 11, expected 10 at most");
  ExpectError(kHead + ClusterText() + ClusterText({{"cores", "\"4-5\""}}),
              "another cluster has this name too");
  ExpectError(kHead + ClusterText() + ClusterText({{"name", "\"big\""}}),
              "'cores' has a core of another cluster; got 0 again");
  const auto cache = [](const std::string& text) {
    return kHead + ClusterText({{"caches", "[" + text + "]"}});
  };
  ExpectError(cache(""), "'caches' is wrong");
  ExpectError(cache("1"), "'caches' is wrong");
  ExpectError(cache("{ level = 1, kib = 32, shared_by = 3, source = \"x\" }"),
              "'shared_by' does not divide the cluster's cores; got 3 for 4");
  ExpectError(cache("{ level = 1, kib = 32, shared_by = \"some\", source = \"x\" }"),
              "expected \"all\" or a number");
  ExpectError(cache("{ level = 9, kib = 32, shared_by = 1, source = \"x\" }"), "'level' is not believed");
  ExpectError(cache("{ level = 2, kib = 32, shared_by = 1, source = \"x\" }, { level = 1, kib = 8, shared_by "
                    "= 1, source = \"x\" }"),
              "levels must ascend; got 1 after 2");
}

TEST(MachineFile, ReportsAllProblemsAtOnceWithTheirLines) {
  const std::string error = ErrorOf(
      kHead + ClusterText({{"core", "7"}, {"idle_w", ""}, {"wake_us", "{ value = -1, source = \"x\" }"}}));
  EXPECT_NE(error.find("[toy.toml:7] cluster 'little': 'core' is wrong; got 7"), error.npos) << error;
  EXPECT_NE(error.find("'idle_w' is missing"), error.npos) << error;
  EXPECT_NE(error.find("wake_us: 'value' is not believed; got -1"), error.npos) << error;
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
}

TEST(MachineFile, RefusesWhatIsNoMachineFile) {
  ExpectError("", "'name' is missing");
  ExpectError("name = \"x\"", "the table 'memory' is missing");
  ExpectError("name = \"x\"\nmemory = 3", "the table 'memory' is missing");
  ExpectError(kHead, "'cluster' is missing");
  ExpectError(kHead + "[cluster]\nname = \"x\"", "'cluster' is wrong");
  ExpectError("\x01\x02 = [", "not valid TOML");
  ExpectError(std::string(100000, '['), "not valid TOML");
  ExpectError(std::string(2 << 20, '\n'), "too long for a description");
  std::string many = kHead;
  for (int i = 0; i < 100; ++i) many += "[[cluster]]\n";
  ExpectError(many, "too many clusters; got 100, expected 64 at most");
  EXPECT_THROW(ReadMachineFile("/nonexistent.toml"), Error);
}

TEST(MachineFile, MessagesHaveNoControlSequences) {
  const std::string error =
      ErrorOf("\"\\u001b[31m\" = 1\nname = \"\\u001b[2J\"\n[[cluster]]\nname = \"\\u001b[1m\"\n");
  EXPECT_FALSE(error.empty());
  EXPECT_EQ(error.find('\x1b'), error.npos);
}

// Returns the machine files in boards/, without the files that describe several devices.
std::vector<std::string> Boards() {
  std::vector<std::string> boards;
  for (const auto& entry : std::filesystem::directory_iterator("boards")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.find("[[device]]") == text.npos) boards.push_back(entry.path().string());
  }
  return boards;
}

TEST(Boards, AreAllRead) {
  for (const std::string& path : Boards()) {
    const MachineFile f = ReadMachineFile(path);
    Verify(f.machine);
    EXPECT_GE(f.machine.cores(), 4) << path;
    EXPECT_EQ(f.machine.clusters.front().capacity, 1) << path;
  }
  EXPECT_GE(Boards().size(), 10u);
}

TEST(Boards, HaveTheCoresThatTheirMakersSay) {
  const std::pair<const char*, const char*> boards[] = {
      {"kirin-970", "4 Cortex-A73 2360, 4 Cortex-A53 1800"},
      {"snapdragon-845", "4 Cortex-A75 2800, 4 Cortex-A55 1766"},
      {"kirin-990", "2 Cortex-A76 2860, 2 Cortex-A76 2360, 4 Cortex-A55 1950"},
      {"snapdragon-855", "1 Cortex-A76 2840, 3 Cortex-A76 2420, 4 Cortex-A55 1800"},
      {"snapdragon-888", "1 Cortex-X1 2840, 3 Cortex-A78 2420, 4 Cortex-A55 1800"},
      {"exynos-7420", "4 Cortex-A57 2100, 4 Cortex-A53 1500"},
      {"exynos-7880", "4 Cortex-A53 1900, 4 Cortex-A53 1900"},
      {"exynos-5422", "4 Cortex-A15 2000, 4 Cortex-A7 1400"},
      {"tensor-g4", "1 Cortex-X4 3100, 3 Cortex-A720 2600, 4 Cortex-A520 1950"},
      {"rk3399", "2 Cortex-A72 1800, 4 Cortex-A53 1416"},
      {"raspberry-pi-5", "4 Cortex-A76 2400"},
      {"core-i9-13900h", "6 P-core 5400, 8 E-core 4100"},
  };
  for (const auto& [board, expected] : boards) {
    const MachineFile f = ReadMachineFile("boards/" + std::string(board) + ".toml");
    std::string cores;
    for (const Cluster& c : f.machine.clusters) {
      const size_t threads = c.siblings.empty() ? 1 : c.siblings[0].size();
      cores += (cores.empty() ? "" : ", ") + std::to_string(c.cores.size() / threads) + " " + c.core + " " +
               std::to_string(c.frequency.max_khz / 1000);
    }
    EXPECT_EQ(cores, expected) << board;
  }
}

// No data sheet has these figures, and a source that looks like one would mislead.
TEST(Boards, SayWhichFiguresAreEstimates) {
  for (const std::string& path : Boards())
    for (const ClusterFigures& f : ReadMachineFile(path).clusters)
      for (const Figure* figure : {&f.compute_share, &f.depthwise_share, &f.gbytes_per_s, &f.dequeue_ns,
                                   &f.barrier_us, &f.wake_us, &f.idle_w, &f.active_w, &f.power_exponent})
        EXPECT_TRUE(figure->is_estimate()) << path << " " << figure->source;
}

TEST(Boards, HaveTheGpusThatTheirMakersSay) {
  const std::pair<const char*, const char*> boards[] = {
      {"exynos-7420", "Mali-T760 MP8 210"},  {"exynos-7880", "Mali-T830 MP3 97"},
      {"snapdragon-845", "Adreno 630 727"},  {"snapdragon-855", "Adreno 640 899"},
      {"snapdragon-888", "Adreno 660 1721"}, {"kirin-970", "Mali-G72 MP12 215"},
      {"kirin-990", "Mali-G76 MP16 461"},    {"raspberry-pi-5", "VideoCore VII 77"},
  };
  for (const auto& [board, expected] : boards) {
    const MachineFile f = ReadMachineFile("boards/" + std::string(board) + ".toml");
    ASSERT_EQ(f.gpus.size(), 1u) << board;
    const GpuFigures& gpu = f.gpus[0].figures;
    EXPECT_EQ(f.gpus[0].name + " " + std::to_string(std::lround(gpu.peak_gflops(gpu.f32_flops_per_cycle))),
              expected);
    for (const Figure* figure : {&gpu.compute_share, &gpu.depthwise_share, &gpu.gbytes_per_s, &gpu.launch_us,
                                 &gpu.drained_launch_us, &gpu.map_us, &gpu.map_us_per_mib, &gpu.wait_us,
                                 &gpu.wake_us, &gpu.cpu_slowed, &gpu.gpu_slowed, &gpu.idle_w, &gpu.active_w})
      EXPECT_TRUE(figure->is_estimate()) << board << " " << figure->source;
  }
}

}  // namespace
}  // namespace mete
