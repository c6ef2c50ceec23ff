#include "engine/pool/make_session.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/free_memory.h"
#include "engine/pool/measure.h"
#include "engine/pool/open_pool.h"
#include "engine/pool/plan_for.h"
#include "engine/pool/several_processors.h"
#include "engine/pool/stored_profile.h"
#include "plan/pool/named.h"
#include "plan/pool/program.h"
#include "run/compare_sessions.h"

namespace mete {
namespace {

using Tell = std::function<void(const std::string&)>;

// A worker chooses the threads of steps itself. Other processors check theirs when they prepare their shares.
void CheckGiven(const Plan& plan, const PoolFile& file) {
  CheckProcessors(plan, NamesOf(file));
  CheckUnits(plan, UnitsOf(file));
  const size_t own = std::max<size_t>(1, file.devices.front().processors.size());
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (share.threads && size_t(share.processor) >= own)
        Invalid("plan", "has the threads of steps for {}; expected none for a worker; try planning again",
                plan.processors[size_t(share.processor)]);
}

PoolSessionOptions SessionOptionsOf(const PoolOptions& options, const Graph& graph) {
  PoolSessionOptions session;
  if (options.lanes < 1 || options.lanes > kMostLanes)
    Invalid("lanes", "cannot be that many; got {}, expected 1 to {}", options.lanes, kMostLanes);
  if (!(options.deadline_ms >= 0) || !std::isfinite(options.deadline_ms))
    Invalid("deadline", "is no time; got {} ms, expected 0 or more", options.deadline_ms);
  session.objective = ObjectiveOf(options);
  CheckPlanner(options);
  if (!options.plan_json.empty()) session.plan = PlanFromJson(options.plan_json, graph);
  session.deploy.coding = CodingOf(options.transfer);
  session.deploy.lanes = options.lanes;
  session.planner = options.planner;
  session.deadline_ms = options.deadline_ms;
  session.remake = session.trial = !options.keep_plan && !session.plan;
  session.cancel = options.cancel;
  if (options.progress)
    session.progress = [progress = options.progress](const std::string& to, int64_t sent, int64_t all) {
      progress("sending weights and preparing shares of " + to, sent, all);
    };
  return session;
}

// Returns the pool of this device with these of its processors alone.
PoolFile WithOnly(const PoolFile& file, const std::vector<size_t>& processors) {
  PoolFile some = file;
  std::vector<ProcessorEntry>& entries = some.devices[0].processors;
  entries.clear();
  for (const size_t p : processors) entries.push_back(file.devices[0].processors.at(p));
  return some;
}

// Measures in the keeper's thread, while the session answers by its home alone. What is kept is the profile
// of the processors that are there. Their drivers have been tried by now, so a profile that was kept has its
// name.
MeasureCosts MeasuredLater(const Graph& graph, const PoolFile& file, const PoolOptions& options) {
  return [&graph, file, own = options](const ToMeasure& to) mutable {
    own.cancel = &to.cancel;
    const PoolFile there = WithOnly(file, to.processors);
    std::optional<PoolProfile> profile = StoredPoolProfile(graph, there, own.kernels, own.note);
    if (!profile) profile = MeasureOn({to.home, to.members, &to.turn}, there, there, graph, own);
    PoolCosts costs = CostsOn(*profile, there);
    const std::vector<std::string> units = UnitsOf(file);  // also where the other one of a unit is not there
    for (size_t i = 0; i < to.processors.size(); ++i) costs.processors[i].unit = units[to.processors[i]];
    return costs;
  };
}

// Whether a processor builds kernels, for which no answer is to wait.
bool PreparesLate(const OpenPool& open) {
  return std::any_of(open.members.begin(), open.members.end(),
                     [](const auto& member) { return member && member->PreparesLate(); });
}

PoolProfile MeasureHere(const Graph& graph, const PoolFile& file, const OpenPool& open,
                        const PoolOptions& options) {
  return MeasureOn({*open.home, open.pointers()}, file, file, graph, options);
}

// The sessions of one model with one set of options.
struct Maker {
  const Graph& graph;
  const PoolInternals::Impl& pool;
  const PoolOptions& options;  // whose notes go to the session's
  const PoolSessionOptions& session;

  // No answer of the home waits for a child process that tries drivers: until it has, there is no profile.
  std::optional<PoolProfile> Stored(const PoolFile& file) const {
    if (HasWorkers(file)) return NeededPoolProfile(graph, file, options.kernels, options.note);
    if (!KnowsPoolProfilePath(file)) return std::nullopt;
    return StoredPoolProfile(graph, file, options.kernels, options.note);
  }
  void Measure(const PoolFile& file) const {
    if (!StoredPoolProfile(graph, file, options.kernels, options.note))
      (void)MeasureHere(graph, file, Open(pool, file, options), options);
  }
  std::unique_ptr<PoolSession> Make(const PoolFile& file, Tell tell) const {
    std::optional<PoolProfile> profile = Stored(file);
    const PoolFile used = profile ? AsMeasured(file, profile->costs) : file;
    if (session.plan) CheckGiven(*session.plan, used);
    OpenPool open = Open(pool, used, options);
    PoolSessionOptions own = session;
    own.tell = std::move(tell);
    if (!profile && PreparesLate(open)) {
      own.measure = MeasuredLater(graph, file, options);
      profile = PoolProfile{.costs = WithoutTimes(NamesOf(file), LayersOf(graph).size())};
    }
    if (!profile) profile = MeasureHere(graph, file, open, options);
    const PoolCosts costs = CostsOn(*profile, used);
    if (session.objective == PoolObjective::kEnergy) CheckPower(costs);
    return std::make_unique<PoolSession>(graph, costs, open.home, std::move(open.members), std::move(own));
  }
};

// Returns `one`, or a session on the same cores as several processors where that is sooner.
std::unique_ptr<PoolSession> Sooner(std::unique_ptr<PoolSession> one, const PoolFile& several,
                                    const Maker& maker, const TimeOfSessions& time) {
  const auto notes = std::make_shared<WaitingNotes>(maker.options.note);
  std::unique_ptr<PoolSession> other =
      maker.Make(several, [notes](const std::string& note) { notes->Add(note); });
  const std::vector<double> us = time({one.get(), other.get()}, maker.options.cancel);
  if (us[1] >= us[0]) {
    other.reset();
    ReturnFreeMemory();
    return one;
  }
  one.reset();
  ReturnFreeMemory();
  maker.options.note(
      fmt::format("{} are faster than one pool of threads: {:.2f} instead of {:.2f} ms as measured",
                  TextOfSeveral(several), us[1] * 1e-3, us[0] * 1e-3));
  notes->Tell();
  return other;
}

}  // namespace

std::vector<double> TimeOneAndSeveral(const std::vector<PoolSession*>& sessions, const CancelToken* cancel) {
  const bool divides = UsedProcessors(sessions.at(1)->plan()).size() > 1;
  return divides ? TimeSessions(sessions, cancel) : std::vector{0., std::numeric_limits<double>::infinity()};
}

std::unique_ptr<PoolSession> MakePoolSession(const Graph& graph, const PoolInternals::Impl& pool,
                                             const PoolOptions& options,
                                             const std::shared_ptr<NoteBook>& notes,
                                             const TimeOfSessions& time) {
  PoolOptions own = options;
  own.note = [notes](const std::string& note) { notes->Add(note); };
  const PoolFile& file = FileOf(pool);
  CheckHome(file, graph);
  const PoolSessionOptions session = SessionOptionsOf(own, graph);
  const Maker maker{graph, pool, own, session};
  const std::optional<PoolFile> several = AsSeveralProcessors(file, own.kernels);
  if (several && session.plan && session.plan->processors == NamesOf(*several)) {
    maker.Measure(file);  // the figures of the pool are kept, whichever plan is used
    return maker.Make(*several, own.note);
  }
  std::unique_ptr<PoolSession> one = maker.Make(file, own.note);
  const bool chooses = session.trial && session.planner == "dynamic" && session.deploy.lanes == 1 &&
                       session.objective == PoolObjective::kLatency;
  return several && chooses ? Sooner(std::move(one), *several, maker, time) : std::move(one);
}

}  // namespace mete
