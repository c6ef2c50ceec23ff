#include "engine/pool/measure.h"

#include <algorithm>

#include "base/clock.h"
#include "engine/model.h"
#include "engine/pool/several_processors.h"
#include "engine/pool/stored_profile.h"

namespace mete {
namespace {

constexpr std::chrono::seconds kHello{5};  // guess: more than a worker that is there takes to answer

// Returns the memory whose use makes processors of this device slow each other; empty: none does noticeably.
// Cores of one CPU are measured at the same time, so that their times contain it.
std::string MemoryOf(const PoolFile& pool) {
  const DeviceInPool& here = pool.devices[0];
  const bool has_others = std::any_of(here.processors.begin(), here.processors.end(),
                                      [](const ProcessorEntry& entry) { return entry.kind != "cpu"; });
  return has_others ? here.name : "";
}

PoolProfileOptions ProfileOptionsOf(const PoolOptions& options, const PoolFile& opened) {
  PoolProfileOptions profile{{}, options.cancel, MemoryOf(opened)};
  profile.progress = [&options](const std::string& what, int done, int all) {
    if (options.progress) options.progress(what, done, all);
  };
  return profile;
}

LinkFigures FiguresOf(const std::string& processor, const LinkProfile& link) {
  LinkFigures figures{processor,
                      link.round_trip_us,
                      link.message_us,
                      link.up_mbit_per_s,
                      link.down_mbit_per_s,
                      link.busy_up_mbit_per_s,
                      link.busy_down_mbit_per_s,
                      {}};
  for (const MessageTimes& t : link.sizes)
    figures.sizes.push_back({t.bytes, t.up_us, t.down_us, t.busy_up_us, t.busy_down_us});
  return figures;
}

// Of the processors in their order; the home has no link.
std::vector<LinkFigures> FiguresOf(const std::vector<std::string>& names,
                                   const std::vector<LinkProfile>& links) {
  std::vector<LinkFigures> figures;
  for (size_t p = 1; p < links.size(); ++p) figures.push_back(FiguresOf(names[p], links[p]));
  return figures;
}

PoolFigures FiguresOf(const PoolProfile& profile, const std::string& path) {
  const std::vector<std::string> names = NamesOf(profile.costs);
  PoolFigures figures{path,
                      profile.seconds,
                      profile.prepare_seconds,
                      names,
                      FiguresOf(names, profile.links),
                      {},
                      {},
                      ToJson(profile),
                      {}};
  for (const ProcessorCosts& processor : profile.costs.processors) {
    double us = 0;
    for (const LayerCost& layer : processor.layers) us += layer.us;
    figures.layers_us.push_back(us);
    figures.slowed.push_back(processor.co_run ? processor.co_run->slowed : 1);
  }
  return figures;
}

std::string LinksJson(const std::vector<LinkProfile>& links) {
  std::string json;
  for (size_t p = 1; p < links.size(); ++p) json += (p > 1 ? "," : "") + ToJson(links[p]);
  return "[" + json + "]";
}

// Error if a member does not answer.
OpenPool OpenAndCheck(const PoolInternals::Impl& pool, const PoolFile& file, const PoolOptions& options) {
  OpenPool open = Open(pool, file, options);
  for (const auto& member : open.members)
    if (member) member->CheckThere(kHello);
  return open;
}

}  // namespace

PoolProfile MeasureOn(const MeasuredOn& on, const PoolFile& opened, const PoolFile& file, const Graph& graph,
                      const PoolOptions& options) {
  PoolProfileOptions profile_options = ProfileOptionsOf(options, opened);
  profile_options.home_turn = on.home_turn;
  profile_options.units = UnitsOf(opened);
  PoolProfile profile = ProfilePool(graph, NamesOf(opened), on.home, on.members, profile_options);
  for (size_t p = 1; p < on.members.size(); ++p)
    profile.costs.processors[p].hardware = on.members[p]->CheckThere(kHello);
  StorePoolProfile(profile, file, options.kernels);
  return profile;
}

PoolFigures Pool::Measure(const Model& model, const PoolOptions& options) const {
  const Impl& impl = PoolInternals::Of(*this);
  const Graph& graph = DivisibleOf(model);
  const PoolFile& file = FileOf(impl);
  CheckHome(file, graph);
  const auto measure = [&](const PoolFile& on) {
    const PoolFile opened = WithOffered(impl, on, options);
    const OpenPool open = OpenAndCheck(impl, opened, options);
    const PoolProfile profile = MeasureOn({*open.home, open.pointers()}, opened, on, graph, options);
    return FiguresOf(profile, PoolProfilePath(profile.digest, on, options.kernels));
  };
  PoolFigures figures = measure(file);
  if (const auto several = AsSeveralProcessors(file, options.kernels))
    figures.as_several.push_back(measure(*several));
  return figures;
}

PoolFigures Pool::MeasureLinks(const PoolOptions& options) const {
  const Impl& impl = PoolInternals::Of(*this);
  const int64_t start_ns = NowNs();
  const PoolFile file = WithOffered(impl, FileOf(impl), options);
  const OpenPool open = OpenAndCheck(impl, file, options);
  const std::vector<std::string> names = NamesOf(file);
  const std::vector<LinkProfile> links =
      ProfileLinks(*open.home, open.pointers(), ProfileOptionsOf(options, file));
  return {"", double(NowNs() - start_ns) * 1e-9, 0, names, FiguresOf(names, links), {}, {}, LinksJson(links),
          {}};
}

std::optional<PoolFigures> Pool::Measured(const Model& model, const PoolOptions& options) const {
  const Impl& impl = PoolInternals::Of(*this);
  if (impl.file.described()) return std::nullopt;
  const Graph& graph = DivisibleOf(model);
  const std::optional<PoolProfile> profile = StoredPoolProfile(graph, impl.file, options.kernels, {});
  if (!profile) return std::nullopt;
  return FiguresOf(*profile, PoolProfilePath(profile->digest, impl.file, options.kernels));
}

}  // namespace mete
