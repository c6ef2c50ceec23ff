#include "simulate/site/site_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"
#include "passes/graphs_testing.h"
#include "plan/site/plan_site.h"
#include "simulate/site/estimate_site.h"

namespace mete {
namespace {

std::string Board(const std::string& name) { return std::filesystem::absolute("boards/" + name).string(); }

constexpr const char* kLinkAndPhoto = R"(
[link]
profile = "lte"
connection = "cold"
up_mbit_per_s = { value = 7.5, source = "measured" }
[photo]
file_bytes = { value = 1500000, source = "measured" }
scaled_bytes = { value = 150528, source = "measured" }
[photo.device]
decode_ms = { value = 60, source = "measured" }
scale_ms = { value = 4, source = "measured" }
[states.evicted]
load_ms = { value = 40, source = "measured" }
least_ms = { value = 5, source = "measured" }
)";

// Three convolutions over 64x64 pixels, and four scores.
Graph Net() {
  Builder b;
  ValueId x = b.Input({1, 3, 64, 64});
  for (const int64_t channels : {8, 8, 8})
    x = b.Conv(x, x == b.graph.inputs[0] ? 3 : 8, channels, 3, {1, 1, 1, 1});
  b.Output(b.Op("MatMul", {b.Op("Flatten", {b.Op("GlobalAveragePool", {x})}), b.Weight({8, 4})}));
  InferShapes(b.graph);
  return b.graph;
}

class SiteFiles : public testing::Test {
 protected:
  SiteFile Read(const std::string& text) {
    std::ofstream(path_.str()) << text;
    return ReadSiteFile(path_.str());
  }
  static std::string Described() {
    return "name = \"a site\"\ndevice = \"" + Board("raspberry-pi-5.toml") + "\"\n[server]\nmachine = \"" +
           Board("core-i9-13900h.toml") + "\"\nwait_ms = { value = 3, source = \"measured\" }\n" +
           kLinkAndPhoto;
  }

  TempPath path_{".toml"};
};

TEST_F(SiteFiles, HaveDeviceServerLinkPhotoAndStates) {
  const SiteFile site = Read(Described());
  EXPECT_EQ(site.device.name, "Raspberry Pi 5");
  ASSERT_TRUE(site.server);
  EXPECT_EQ(site.server->machine.name, "Intel Core i9-13900H");
  EXPECT_EQ(site.server_wait_ms, 3);
  EXPECT_EQ(site.connection, Connection::kCold);
  NetworkLink link = FindNamedLink("lte", "link").link();
  link.up_mbit_per_s = 7.5;
  EXPECT_EQ(site.link, link);
  EXPECT_EQ(site.photo->scaled_bytes, 150528);
  EXPECT_EQ(site.photo->device.decode_ms, 60);
  EXPECT_FALSE(site.photo->server.decode_ms);
  EXPECT_EQ(site.loads[size_t(StartState::kResident)], LoadCost{});
  EXPECT_EQ(site.loads[size_t(StartState::kEvicted)], (LoadCost{40, 5}));
  EXPECT_FALSE(site.loads[size_t(StartState::kCold)]);
}

TEST_F(SiteFiles, MayBeADeviceAlone) {
  const SiteFile site = Read("name = \"alone\"\ndevice = \"" + Board("raspberry-pi-5.toml") + "\"\n");
  EXPECT_FALSE(site.has_server);
  EXPECT_FALSE(site.photo);
}

TEST_F(SiteFiles, TellAllProblemsAtOnce) {
  const std::string text = R"(
name = "wrong"
device = "none.toml"
colour = "red"
[server]
wait_ms = { value = -1, source = "measured" }
[link]
connection = "lukewarm"
[photo]
file_bytes = 5
scaled_bytes = { value = 150528, source = "measured" }
[photo.device]
decode = 3
[states.warm]
load_ms = { value = 4, source = "measured" }
[states.cold]
load_ms = { value = 4, source = "measured" }
least_ms = { value = 5, source = "measured" }
)";
  for (const char* problem :
       {"none.toml", "unknown key 'colour'", "is neither described nor there",
        "wait_ms: 'value' is not believed; got -1", "'value' is not believed",
        "'round_trip_ms' is missing; expected it, or a profile",
        "got 'lukewarm', expected one of: warm, idle, cold", "'file_bytes' has no source",
        "unknown key 'decode'", "unknown key 'warm'", "'least_ms' is more than all"})
    EXPECT_TELLS(Read(text), problem);
}

TEST_F(SiteFiles, HaveWhatACallerOfTheServerNeeds) {
  const std::string begin = "name = \"a\"\n[link]\nprofile = \"lan\"\n[server]\n";
  const SiteFile site =
      Read(begin + "address = \"a:1\"\nmodel = \"net\"\nkeys = \"phone\"\ntoken = \"word\"\n");
  EXPECT_TRUE(site.device.devices.empty());
  EXPECT_EQ(site.address, "a:1");
  EXPECT_EQ(site.model, "net");
  EXPECT_EQ(site.worker, "");
  const auto folder = std::filesystem::path(path_.str()).parent_path();
  EXPECT_EQ(site.keys, (folder / "phone").string());
  EXPECT_EQ(site.token, (folder / "word").string());
  EXPECT_TELLS(EstimateSite(Net(), site, StartState::kResident), "no machine file");
  EXPECT_TELLS(Read(begin + "address = \"nowhere\"\ncolour = 3\n"), "got 'nowhere', expected HOST:PORT");
  EXPECT_TELLS(Read(begin + "address = \"nowhere\"\ncolour = 3\n"), "unknown key 'colour'");
  const SiteFile here = Read(begin + "machine = \"" + Board("core-i9-13900h.toml") + "\"\n");
  EXPECT_TELLS(EstimateSite(Net(), here, StartState::kResident), "[device] is not described");
}

TEST_F(SiteFiles, MayHaveThePowerOfThisDevice) {
  const std::string begin = "name = \"a\"\n[link]\nprofile = \"lan\"\n[server]\naddress = \"a:1\"\n";
  EXPECT_FALSE(Read(begin).power);
  const SiteFile site = Read(begin +
                             "[power]\nidle_w = { value = 1.5, source = \"a meter\" }\n"
                             "compute_w = { value = 3, source = \"a meter\" }\n"
                             "sent_nj_per_byte = { value = 100, source = \"a meter\" }\n");
  ASSERT_TRUE(site.power);
  EXPECT_EQ(PowerCostsOf(*site.power), (PowerCosts{1.5, 3, 100 * 1e-9, 0}));
  EXPECT_TELLS(Read(begin + "[power]\n"), "has no figures; expected idle_w and compute_w");
  EXPECT_TELLS(Read(begin + "[power]\nidle_w = 3\n"), "'idle_w' has no source");
  EXPECT_TELLS(Read(begin + "[power]\nidle_w = 3\n"), "'compute_w' is missing");
}

TEST_F(SiteFiles, MayNameAWorkerOfTheServer) {
  const std::string begin = "name = \"a\"\n[link]\nprofile = \"lan\"\n[server]\n";
  const SiteFile site = Read(begin + "address = \"a:1\"\nworker = \"[::1]:2\"\nkeys = \"phone\"\n");
  EXPECT_EQ(site.worker, "[::1]:2");
  EXPECT_TRUE(IsSiteFile(path_.str()));
  const PoolFile pool = PoolOfSite(site);
  EXPECT_EQ(NamesOf(pool), (std::vector<std::string>{"device", "::1"}));
  EXPECT_EQ(pool.devices[1].address, "[::1]:2");
  EXPECT_EQ(pool.keys, site.keys);
  EXPECT_FALSE(pool.insecure);
  EXPECT_TELLS(Read(begin + "address = \"a:1\"\nworker = \"b\"\n"),
               "'worker' is wrong; got 'b', expected HOST:PORT");
  EXPECT_TELLS(Read(begin + "machine = \"" + Board("core-i9-13900h.toml") + "\"\nworker = \"b:1\"\n"),
               "unknown key 'worker'");
}

TEST_F(SiteFiles, HaveServerAndLinkOrNeither) {
  const std::string device = "name = \"a\"\ndevice = \"" + Board("raspberry-pi-5.toml") + "\"\n";
  EXPECT_TELLS(Read(device + "[link]\nprofile = \"lan\"\n"), "has a link and no server");
  EXPECT_TELLS(Read(device + "[server]\naddress = \"a:1\"\n"), "has a server and no link");
  EXPECT_TELLS(Read(device + "[server]\naddress = \"a:1\"\n[link]\nprofile = \"5g\"\n"),
               "got '5g', expected one of: 3g");
}

TEST_F(SiteFiles, BecomeCostsOfASite) {
  const Graph graph = Net();
  const SiteFile site = Read(Described());
  const SiteCosts costs = EstimateSite(graph, site, StartState::kEvicted);
  Verify(costs, graph);
  ASSERT_EQ(NamesOf(costs.pool), (std::vector<std::string>{"Raspberry Pi 5", "server"}));
  EXPECT_EQ(ServerOf(costs).link, PoolLinkOf(site.link));
  EXPECT_LT(UsWithHome(costs.pool, 1), UsWithHome(costs.pool, 0));  // the server is faster
  const SitePlan plan = PlanSite(graph, costs);
  EXPECT_NEAR(plan.ways[0].steps.load_ms, 40, 1e-9);
  EXPECT_NEAR(plan.ways[0].steps.compute_ms, UsWithHome(costs.pool, 0) * 1e-3, 1e-6);
  EXPECT_EQ(plan.ways[1].why_not, "the time to decode a photo on the server is not known");
}

TEST_F(SiteFiles, HaveWhatIsMissingAsATermOfTheLoad) {
  const std::string killed = "[states.killed]\nload_ms = { value = 60, source = \"measured\" }\n";
  const SiteFile site =
      Read(Described() + killed + "[states.first-ever]\nload_ms = { value = 200, source = \"m\" }\n" +
           "[without]\ntimings_ms = { value = 12, source = \"measured\" }\n");
  EXPECT_EQ(site.without, (PartCosts{std::nullopt, 12, std::nullopt}));
  const auto device = [&](StartState state, const char* missing) {
    return PlanSite(Net(), EstimateSite(Net(), site, state, ParseMissing(missing, "test"))).ways[0];
  };
  EXPECT_NEAR(device(StartState::kKilled, "none").steps.load_ms, 60, 1e-9);
  EXPECT_TRUE(device(StartState::kKilled, "none").load_terms.empty());
  const SiteWay way = device(StartState::kKilled, "weights+timings");
  EXPECT_NEAR(way.steps.load_ms, 72, 1e-9);
  EXPECT_EQ(way.load_terms,
            (std::vector<LoadTerm>{{KeptPart::kWeights, true, {}}, {KeptPart::kTimings, true, 12}}));
  EXPECT_NEAR(device(StartState::kFirstEver, "timings").steps.load_ms, 200, 1e-9);
  EXPECT_TELLS(Read(Described() + "[without]\ncolours_ms = { value = 1, source = \"m\" }\n"), "'colours_ms'");
}

TEST_F(SiteFiles, NeedAMachineFileOfTheServerForEstimates) {
  const SiteFile site = Read("name = \"a\"\ndevice = \"" + Board("raspberry-pi-5.toml") +
                             "\"\n[server]\naddress = \"a:1\"\n[link]\nprofile = \"lan\"\n");
  EXPECT_TELLS(EstimateSite(Net(), site, StartState::kResident),
               "[server] has an address and no machine file");
}

}  // namespace
}  // namespace mete
