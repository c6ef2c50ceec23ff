#include "profile/pool/pool_profile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/free_memory.h"
#include "profile/pool/layers_on.h"

namespace mete {
namespace {

constexpr std::chrono::milliseconds kProgress{100};
constexpr int kSteps = 8;        // of a profile
constexpr int kStepsBeside = 2;  // in addition, where processors slow each other

// The links of processors to what they share, from measurements between the first and each other one: what
// was measured to a processor is its own link, and the first takes nothing beside.
std::vector<LinkCosts> LinksOf(const std::vector<LinkProfile>& from_first) {
  std::vector<LinkCosts> links{{0, 0, 0, 0}};
  for (size_t d = 1; d < from_first.size(); ++d) {
    const LinkProfile& l = from_first[d];
    const double latency_us = std::max(0.0, l.round_trip_us / 2 - l.message_us);
    links.push_back({latency_us, l.message_us, l.down_mbit_per_s, l.up_mbit_per_s});
    links[0].up_mbit_per_s = std::max(links[0].up_mbit_per_s, l.up_mbit_per_s);
    links[0].down_mbit_per_s = std::max(links[0].down_mbit_per_s, l.down_mbit_per_s);
  }
  if (links.size() == 1) links[0].up_mbit_per_s = links[0].down_mbit_per_s = 1;  // nobody to send to
  return links;
}

// The members behind each address that has several: those of one worker. The home's are not among them.
std::vector<std::vector<size_t>> SameWorkers(const std::vector<Member*>& members) {
  std::map<std::string, std::vector<size_t>> by_address;
  for (size_t d = 0; d < members.size(); ++d)
    if (members[d] && !members[d]->address().empty()) by_address[members[d]->address()].push_back(d);
  std::vector<std::vector<size_t>> several;
  for (auto& [address, of_worker] : by_address)
    if (of_worker.size() > 1) several.push_back(std::move(of_worker));
  return several;
}

// Each worker measures its own hand-over, because its processors and memory are not those of the home.
void MeasureMemory(const std::vector<Member*>& members, const PoolProfileOptions& options, int done,
                   int steps, PoolCosts& costs) {
  for (const std::vector<size_t>& of_worker : SameWorkers(members)) {
    Member& first = *members[of_worker[0]];
    options.progress("the memory of " + first.host(), done, steps);
    std::vector<LinkProfile> from_first{{}};
    for (size_t i = 1; i < of_worker.size(); ++i)
      from_first.push_back(first.MeasureHandOver(*members[of_worker[i]]));
    const std::vector<LinkCosts> links = LinksOf(from_first);
    for (size_t i = 0; i < of_worker.size(); ++i)
      costs.processors[of_worker[i]].memory = MemoryLink{first.host(), links[i]};
  }
}

// The home and the members of its process, if they slow each other.
std::vector<size_t> ThatSlowEachOther(const std::vector<Member*>& members,
                                      const PoolProfileOptions& options) {
  std::vector<size_t> here;
  for (size_t d = 0; d < members.size(); ++d)
    if (!members[d] || members[d]->address().empty()) here.push_back(d);
  if (options.memory.empty() || here.size() < 2) here.clear();
  return here;
}

// Whether another one of the processors is the same hardware as this one.
bool HasSameUnit(const PoolProfileOptions& options, const std::vector<size_t>& processors, size_t processor) {
  if (options.units.empty() || options.units[processor].empty()) return false;
  return std::any_of(processors.begin(), processors.end(), [&](size_t other) {
    return other != processor && options.units[other] == options.units[processor];
  });
}

// Those of the others beside which a processor is timed: of the same hardware the first.
std::vector<size_t> Beside(const PoolProfileOptions& options, const std::vector<size_t>& slowing,
                           size_t processor) {
  std::vector<size_t> together{processor};
  for (const size_t other : slowing)
    if (other != processor && !HasSameUnit(options, together, other)) together.push_back(other);
  together.erase(together.begin());
  return together;
}

// The processors that are timed at the same time: all, but each of those that slow each other alone, and no
// two of the same hardware.
std::vector<std::vector<size_t>> TurnsOf(const std::vector<Member*>& members,
                                         const std::vector<size_t>& slowing,
                                         const PoolProfileOptions& options) {
  std::vector<std::vector<size_t>> turns(1);
  for (size_t d = 0; d < members.size(); ++d) {
    const bool is_slowed = std::find(slowing.begin(), slowing.end(), d) != slowing.end();
    if (d != 0 && (is_slowed || HasSameUnit(options, turns[0], d))) turns.push_back({d});
    else turns[0].push_back(d);
  }
  return turns;
}

// Nothing where no processor is slowed: a plan is sooner made without.
void PutCoRuns(const std::deque<LayersOn>& processors, const std::vector<size_t>& slowing,
               const std::string& memory, PoolCosts& costs) {
  const auto is_slowed = [&](size_t p) { return processors[p].Slowed() > 1; };
  if (std::none_of(slowing.begin(), slowing.end(), is_slowed)) return;
  for (const size_t p : slowing) costs.processors[p].co_run = CoRun{memory, processors[p].Slowed()};
}

}  // namespace

std::string DigestOfText128(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string DigestOfGraph(const Graph& graph) { return DigestOfText128(ToText(graph)); }

PoolProfile ProfilePool(const Graph& graph, const std::vector<std::string>& names, Processor& home,
                        const std::vector<Member*>& members, const PoolProfileOptions& options) {
  const int64_t start_ns = NowNs();
  const std::vector<Layer> layers = LayersOf(graph);
  std::deque<LayersOn> processors;
  for (Member* member : members) processors.emplace_back(home, member, options, graph, layers);
  const std::vector<size_t> slowing = ThatSlowEachOther(members, options);
  const std::vector<std::vector<size_t>> turns = TurnsOf(members, slowing, options);
  const int steps = kSteps + (slowing.empty() ? 0 : kStepsBeside);
  std::vector<LinkProfile> links(members.size());
  int done = 0;
  // The weights of graphs that are not timed again go before those of the next processor come.
  const auto forget = [&](const std::vector<size_t>& turn) {
    for (const size_t p : turn) processors[p].Forget();
    ReturnFreeMemory();
  };
  enum class Then { kKeepGraphs, kForgetGraphs };
  // Processors that do not slow each other at the same time, as they compute together.
  const auto on_processors = [&](void (LayersOn::*time)(), Then then) {
    for (const std::vector<size_t>& turn : turns) {
      std::vector<std::future<void>> timed;
      for (const size_t p : turn) timed.push_back(std::async(std::launch::async, time, &processors[p]));
      for (auto& processor : timed)
        while (processor.wait_for(kProgress) == std::future_status::timeout)
          options.progress(turns.size() > 1 ? "layers on " + names[turn[0]] : "layers on all processors",
                           done, steps);
      for (auto& processor : timed) processor.get();
      if (then == Then::kForgetGraphs) forget(turn);
    }
    ++done;
  };
  const auto beside_others = [&] {
    for (const size_t p : slowing) {
      options.progress("layers on " + names[p] + " beside others", done, steps);
      std::vector<LayersOn*> others;
      for (const size_t other : Beside(options, slowing, p)) others.push_back(&processors[other]);
      processors[p].TimeModelBeside(others);
    }
    done += slowing.empty() ? 0 : 1;
  };
  // One after the other.
  const auto on_links = [&](const std::function<void(Member&, LinkProfile&)>& measure) {
    const AdoptedThread adopted(home);
    for (size_t d = 0; d < members.size(); ++d) {
      if (!members[d]) continue;
      options.progress("the link to " + members[d]->name(), done, steps);
      measure(*members[d], links[d]);
    }
    ++done;
  };
  on_processors(&LayersOn::TimeShare, Then::kForgetGraphs);
  on_processors(&LayersOn::TimeModel, Then::kKeepGraphs);
  beside_others();
  on_links([](Member& member, LinkProfile& link) { link = MeasureLink(*member.OpenEcho()); });
  on_processors(&LayersOn::TimeModel, Then::kKeepGraphs);
  beside_others();
  for (const std::vector<size_t>& turn : turns) forget(turn);
  on_processors(&LayersOn::TimeHalves, Then::kForgetGraphs);
  on_processors(&LayersOn::TimeHalvesByChannels, Then::kForgetGraphs);
  on_links([&](Member& member, LinkProfile& link) { MeasureBusyLink(member, home, link); });
  PoolProfile profile{graph.name, DigestOfGraph(graph), links, {}, 0, 0};
  const std::vector<LinkCosts> to_home = LinksOf(links);
  for (size_t d = 0; d < processors.size(); ++d) {
    profile.costs.processors.push_back({names[d], to_home[d], processors[d].Costs()});
    profile.costs.processors[d].share_us = processors[d].share_us();
    profile.prepare_seconds = std::max(profile.prepare_seconds, processors[d].prepare_s());
  }
  PutCoRuns(processors, slowing, options.memory, profile.costs);
  MeasureMemory(members, options, done, steps, profile.costs);
  profile.seconds = double(NowNs() - start_ns) * 1e-9;
  Verify(profile.costs, layers.size());
  return profile;
}

std::vector<LinkProfile> ProfileLinks(Processor& home, const std::vector<Member*>& members,
                                      const PoolProfileOptions& options) {
  std::vector<LinkProfile> links(members.size());
  const auto check = [&] {
    if (options.cancel && options.cancel->cancelled()) Fail(Code::kCancelled, "profile", "was interrupted");
  };
  const AdoptedThread adopted(home);
  for (size_t d = 0; d < members.size(); ++d) {
    if (!members[d]) continue;
    options.progress("the link to " + members[d]->name(), int(d), int(members.size()));
    links[d] = MeasureLink(*members[d]->OpenEcho());
    check();
    MeasureBusyLink(*members[d], home, links[d]);
    check();
  }
  return links;
}

}  // namespace mete
