#include "machine/file.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/mapped_file.h"
#include "machine/core_list.h"
#include "machine/toml_keys.h"

namespace mete {
namespace {

constexpr size_t kMostClusters = 64;  // this value is a guess: processors of today have three
constexpr size_t kMostGpus = 16;      // this value is a guess: boards for servers have eight
constexpr int kMostThreads = 8;       // per core; this value is a guess: POWER has eight
constexpr int kMostCacheLevel = 4;
constexpr size_t kMostCaches = 4;

constexpr ClusterFigureKey kClusterFigures[] = {
    {"min_mhz", &ClusterFigures::min_mhz, 1, 20'000},
    {"max_mhz", &ClusterFigures::max_mhz, 1, 20'000},
    {"f32_flops_per_cycle", &ClusterFigures::f32_flops_per_cycle, 0.1, 4096},
    {"int8_ops_per_cycle", &ClusterFigures::int8_ops_per_cycle, 0.1, 65536},
    {"compute_share", &ClusterFigures::compute_share, 0.01, 1},
    {"depthwise_share", &ClusterFigures::depthwise_share, 0.001, 1},
    {"gbytes_per_s", &ClusterFigures::gbytes_per_s, 0.01, 100'000},
    {"dequeue_ns", &ClusterFigures::dequeue_ns, 0, 1e6},
    {"barrier_us", &ClusterFigures::barrier_us, 0, 1e5},
    {"wake_us", &ClusterFigures::wake_us, 0, 1e6},
    {"idle_w", &ClusterFigures::idle_w, 0, 1000},
    {"active_w", &ClusterFigures::active_w, 0.001, 1000},
    {"power_exponent", &ClusterFigures::power_exponent, 1, 4},
};

constexpr GpuFigureKey kGpuFigures[] = {
    {"compute_units", &GpuFigures::compute_units, 1, 4096},
    {"mhz", &GpuFigures::mhz, 1, 20'000},
    {"f32_flops_per_cycle", &GpuFigures::f32_flops_per_cycle, 0.1, 65536},
    {"f16_flops_per_cycle", &GpuFigures::f16_flops_per_cycle, 0.1, 65536},
    {"int8_ops_per_cycle", &GpuFigures::int8_ops_per_cycle, 0.1, 1 << 20},
    {"compute_share", &GpuFigures::compute_share, 0.01, 1},
    {"depthwise_share", &GpuFigures::depthwise_share, 0.001, 1},
    {"gbytes_per_s", &GpuFigures::gbytes_per_s, 0.01, 100'000},
    {"launch_us", &GpuFigures::launch_us, 0, 1e6},
    {"drained_launch_us", &GpuFigures::drained_launch_us, 0, 1e6},
    {"map_us", &GpuFigures::map_us, 0, 1e6},
    {"map_us_per_mib", &GpuFigures::map_us_per_mib, 0, 1e6},
    {"wait_us", &GpuFigures::wait_us, 0, 1e6},
    {"wake_us", &GpuFigures::wake_us, 0, 1e6},
    {"cpu_slowed", &GpuFigures::cpu_slowed, 1, 10},
    {"gpu_slowed", &GpuFigures::gpu_slowed, 1, 10},
    {"idle_w", &GpuFigures::idle_w, 0, 1000},
    {"active_w", &GpuFigures::active_w, 0.001, 1000},
};

// A cluster while the file is read: the clusters are sorted by speed after all are read.
struct Read {
  Cluster cluster;
  ClusterFigures figures;
  std::string source;

  double sustained() const { return figures.f32_gflops() * figures.compute_share.value; }
};

// Splits `cores` into runs of `size`: 0-3 with size 2 are {0, 1} and {2, 3}.
std::vector<std::vector<int>> Runs(const std::vector<int>& cores, size_t size) {
  std::vector<std::vector<int>> runs;
  for (size_t i = 0; i < cores.size(); i += size)
    runs.emplace_back(cores.begin() + ptrdiff_t(i),
                      cores.begin() + ptrdiff_t(std::min(i + size, cores.size())));
  return runs;
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  MachineFile Do(const toml::table& table) {
    RefuseOtherDescription(table, path_, Description::kMachine);
    TomlKeys keys(table, path_, "machine", problems_);
    MachineFile file;
    file.machine.name = keys.Text("name");
    ReadMemory(keys, file);
    const std::vector<const toml::table*> tables = keys.Tables("cluster");
    if (tables.size() > kMostClusters)
      keys.Problem(tables[0], "too many clusters; got {}, expected {} at most", tables.size(), kMostClusters);
    for (size_t i = 0; i < std::min(tables.size(), kMostClusters); ++i) ReadCluster(*tables[i], file);
    if (keys.Find("gpu")) ReadGpus(keys, file);
    keys.RefuseOthers();
    problems_.ThrowIfAny();
    Finish(file);
    return file;
  }

 private:
  void ReadMemory(TomlKeys& keys, MachineFile& file) {
    const toml::node* node = keys.Find("memory");
    const toml::table* table = node ? node->as_table() : nullptr;
    if (!table)
      return keys.Problem(node, "the table 'memory' is missing; expected its keys gib and gbytes_per_s");
    TomlKeys memory(*table, path_, "memory", problems_);
    file.memory_gib = memory.TakeFigure("gib", 0.001, 1e6);
    file.memory_gbytes_per_s = memory.TakeFigure("gbytes_per_s", 0.01, 1e5);
    file.machine.memory_bytes = int64_t(file.memory_gib.value * (1 << 30));
    memory.RefuseOthers();
  }

  void ReadCluster(const toml::table& table, MachineFile& file) {
    Read read;
    const std::string name = table["name"].value_or(std::string("?"));
    TomlKeys keys(table, path_, fmt::format("cluster '{}'", Printable(name.substr(0, 40))), problems_);
    read.cluster.name = keys.Text("name");
    read.cluster.core = keys.Text("core");
    read.source = keys.Text("source");
    ReadCores(keys, read.cluster);
    for (const ClusterFigureKey& k : kClusterFigures)
      read.figures.*k.figure = keys.TakeFigure(k.key, k.least, k.most);
    for (const toml::table* cache : keys.Tables("caches")) ReadCache(keys, *cache, read);
    keys.RefuseOthers();
    Check(keys, table, read, file);
    clusters_.push_back(std::move(read));
  }

  void ReadGpus(TomlKeys& keys, MachineFile& file) {
    const std::vector<const toml::table*> tables = keys.Tables("gpu");
    if (tables.size() > kMostGpus)
      keys.Problem(tables[0], "too many GPUs; got {}, expected {} at most", tables.size(), kMostGpus);
    for (size_t i = 0; i < std::min(tables.size(), kMostGpus); ++i) ReadGpu(*tables[i], file);
  }

  void ReadGpu(const toml::table& table, MachineFile& file) {
    const std::string name = table["name"].value_or(std::string("?"));
    TomlKeys keys(table, path_, fmt::format("gpu '{}'", Printable(name.substr(0, 40))), problems_);
    DescribedGpu gpu{keys.Text("name"), keys.Text("source"), {}};
    for (const GpuFigureKey& k : kGpuFigures) gpu.figures.*k.figure = keys.TakeFigure(k.key, k.least, k.most);
    keys.RefuseOthers();
    const GpuFigures& f = gpu.figures;
    if (f.launch_us.value > f.drained_launch_us.value)
      keys.Problem(&table, "'launch_us' is more than 'drained_launch_us'; got {} and {}", f.launch_us.value,
                   f.drained_launch_us.value);
    CheckBandwidth(keys, table, f.gbytes_per_s, file);
    for (const DescribedGpu& other : file.gpus)
      if (other.name == gpu.name) return keys.Problem(&table, "another GPU has this name too");
    file.gpus.push_back(std::move(gpu));
  }

  static void CheckBandwidth(TomlKeys& keys, const toml::table& table, const Figure& bandwidth,
                             const MachineFile& file) {
    if (bandwidth.value > file.memory_gbytes_per_s.value && file.memory_gbytes_per_s.value > 0)
      keys.Problem(&table, "'gbytes_per_s' is more than the memory's; got {}, expected {} at most",
                   bandwidth.value, file.memory_gbytes_per_s.value);
  }

  void ReadCores(TomlKeys& keys, Cluster& cluster) {
    const std::string text = keys.Text("cores");
    const auto cores = ParseCoreList(text);
    if (!cores && !text.empty())
      keys.Problem(nullptr, "'cores' is wrong; got '{}', expected a list such as 0-3,5 below {}",
                   text.substr(0, 40), kMostCores);
    cluster.cores = cores.value_or(std::vector<int>());
    const size_t threads = size_t(keys.Count("threads_per_core", kMostThreads, 1));
    if (cluster.cores.size() % threads != 0)
      keys.Problem(nullptr, "'threads_per_core' does not divide the cores; got {} for {} cores", threads,
                   cluster.cores.size());
    if (threads > 1) cluster.siblings = Runs(cluster.cores, threads);
    for (int core : cluster.cores)
      if (!all_cores_.insert(core).second)
        return keys.Problem(nullptr, "'cores' has a core of another cluster; got {} again", core);
  }

  void ReadCache(TomlKeys& cluster, const toml::table& table, Read& read) {
    TomlKeys keys(table, path_, fmt::format("{}: caches", cluster.what()), problems_);
    Cache cache{keys.Count("level", kMostCacheLevel)};
    const Figure kib{keys.Number("kib", 1, 1 << 24), keys.Text("source")};
    cache.bytes = int64_t(kib.value * 1024);
    if (table.get("shared_by") && table.get("shared_by")->is_string()) {
      if (keys.Text("shared_by") != "all")
        keys.Problem(table.get("shared_by"), "'shared_by' is wrong; expected \"all\" or a number of cores");
      cache.shared = {{}};  // Finish() replaces it by all cores, which are known only then
    } else {
      const size_t sharers = size_t(keys.Count("shared_by", kMostCores)), cores = read.cluster.cores.size();
      if (cores % sharers != 0)
        keys.Problem(&table, "'shared_by' does not divide the cluster's cores; got {} for {} cores", sharers,
                     cores);
      cache.shared = Runs(read.cluster.cores, sharers);
    }
    keys.RefuseOthers();
    const auto& before = read.cluster.caches;
    if (!before.empty() && before.back().level >= cache.level)
      keys.Problem(&table, "levels must ascend; got {} after {}", cache.level, before.back().level);
    if (before.size() >= kMostCaches) return;  // already a problem: there are not so many levels
    read.cluster.caches.push_back(std::move(cache));
    read.figures.cache_kib.push_back(kib);
  }

  void Check(TomlKeys& keys, const toml::table& table, const Read& read, const MachineFile& file) {
    const ClusterFigures& f = read.figures;
    if (f.min_mhz.value > f.max_mhz.value)
      keys.Problem(&table, "min_mhz is above max_mhz; got {} and {}", f.min_mhz.value, f.max_mhz.value);
    CheckBandwidth(keys, table, f.gbytes_per_s, file);
    for (const Read& other : clusters_)
      if (other.cluster.name == read.cluster.name)
        return keys.Problem(&table, "another cluster has this name too");
  }

  // Does the work that needs all clusters.
  void Finish(MachineFile& file) {
    std::stable_sort(clusters_.begin(), clusters_.end(),
                     [](const Read& a, const Read& b) { return a.sustained() > b.sustained(); });
    const std::vector<int> all(all_cores_.begin(), all_cores_.end());
    for (Read& read : clusters_) {
      Cluster& c = read.cluster;
      c.capacity = read.sustained() / clusters_.front().sustained();
      c.capacity_source = CapacitySource::kFile;
      c.frequency.min_khz = std::lround(read.figures.min_mhz.value * 1e3);
      c.frequency.max_khz = c.frequency.limit_khz = std::lround(read.figures.max_mhz.value * 1e3);
      for (Cache& cache : c.caches)
        if (cache.shared == std::vector<std::vector<int>>{{}}) cache.shared = {all};
      file.machine.clusters.push_back(std::move(c));
      file.clusters.push_back(std::move(read.figures));
      file.sources.push_back(std::move(read.source));
    }
    file.machine.affinity.online = file.machine.affinity.allowed = all;
    Verify(file.machine);
  }

  const std::string path_;
  Problems problems_;
  std::vector<Read> clusters_;
  std::set<int> all_cores_;
};

}  // namespace

double ClusterFigures::active_watts(double mhz) const {
  return active_w.value * std::pow(mhz / max_mhz.value, power_exponent.value);
}

std::span<const ClusterFigureKey> ClusterFigureKeys() { return kClusterFigures; }
std::span<const GpuFigureKey> GpuFigureKeys() { return kGpuFigures; }

MachineFile ParseMachineFile(std::string_view text, const std::string& path) {
  return Reader(path).Do(ParseToml(text, path));
}

MachineFile ReadMachineFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return ParseMachineFile({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, path);
}

}  // namespace mete
