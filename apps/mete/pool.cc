#include "pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "checks.h"
#include "installed_files.h"
#include "pool_figure.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {

CLI::Option* AddPoolFlags(CLI::App& command, PoolFlags& flags) {
  CLI::Option* file =
      command
          .add_option(
              "--processors", flags.processors,
              "run on these processors together: a list such as cpu:0,cpu:1 or cpu,gpu, or a file of devices "
              "and processors; gpu,gpu:f16 is one GPU in f32 or f16, group by group")
          ->type_name("LIST|FILE")
          ->group("Devices");
  command
      .add_option("--transfer", flags.transfer,
                  "how floats travel between processors; of f16 and u8 the error is reported")
      ->type_name("f32|f16|u8")
      ->check(OneOf({"f32", "f16", "u8"}))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_option("--deadline", flags.deadline_ms,
                  "of a request: late processors are given up in time to compute it here")
      ->type_name("MS")
      ->check(Between(0.001, 1e9))
      ->needs(file)
      ->group("Devices");
  command.add_option("--planner", flags.planner, "who plans: dynamic (ours), or others to compare with")
      ->type_name("NAME")
      ->check(OneOf(PoolPlanners()))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_flag("--keep-plan", flags.keep_plan,
                "use the planner's plan as it is: no trial before, no other plan later where processors are "
                "faster or slower than their costs")
      ->needs(file)
      ->group("Devices");
  AddExactFlag(command, flags.exact);
  // They are of a session of this device alone.
  ExcludeOthers(command, *file, {"--explain", "--profile", "--trace"});
  return file;
}

void AddExactFlag(CLI::App& command, bool& exact) {
  command
      .add_flag(
          "--exact", exact,
          "of 8-bit networks: every byte of GPUs is that of a CPU's kernels; without it a byte of a GPU "
          "of f16 (gpu:f16) may be the next one")
      ->needs("--processors")
      ->group("Devices");
}

namespace {

// The progress of measuring and of weights, until the session is made: it sends weights again much later.
class FirstProgress {
 public:
  explicit FirstProgress(const Context& context)
      : progress_(std::make_unique<Progress>(context, "preparing")) {}
  void Update(const std::string& what, int64_t done, int64_t all) {
    std::lock_guard lock(mutex_);
    if (!progress_) return;
    const bool large = all > kMostShown;  // bytes
    progress_->SetLabel(large ? what + ", KiB" : what);
    progress_->Update(int(large ? done >> 10 : done), int(large ? all >> 10 : all));
  }
  void End() {
    std::lock_guard lock(mutex_);
    progress_.reset();
  }

 private:
  static constexpr int64_t kMostShown = 100'000;  // guess: more layers than any model has
  std::mutex mutex_;
  std::unique_ptr<Progress> progress_;
};

bool HasWorkers(const Pool& pool) {
  return std::any_of(pool.processors().begin(), pool.processors().end(),
                     [](const PoolProcessor& p) { return !p.address.empty(); });
}

Pool FromFile(const std::string& path) {
  try {
    return Pool::FromFile(path, NetworkOfProgram());
  } catch (const Error& error) {
    if (error.code() != Code::kUnimplemented) throw;
    throw Error(
        error.code(),
        fmt::format("[--processors] this program was built without the network; expected one that can "
                    "reach other hosts; try to build with METE_NETWORK=ON, or a file that describes "
                    "boards (boards/rk3399x6.toml) for plan and simulate\n{}",
                    error.what()));
  }
}

std::string Reworded(const ModelFlags& flags, const Error& error) {
  return fmt::format(
      "[--plan {}] this plan does not serve {} here; try to plan again with --save-plan {}\n{}", flags.plan,
      flags.model, flags.plan, error.what());
}

PoolOptions OptionsOf(const ModelFlags& model_flags, const PoolFlags& flags, const Context& context) {
  PoolOptions options = PoolOptionsOf(model_flags, context);
  if (!model_flags.plan.empty()) options.plan_json = ReadTextFile(model_flags.plan, "--plan");
  options.objective = model_flags.objective;
  options.planner = flags.planner;
  options.keep_plan = flags.keep_plan;
  options.lanes = flags.lanes;
  options.deadline_ms = flags.deadline_ms;
  options.transfer = flags.transfer;
  return options;
}

// Refuses an objective that the planner does not minimize.
void CheckPlanner(const ModelFlags& model_flags, const PoolFlags& flags) {
  if (model_flags.objective.empty() || PlansFor(flags.planner, model_flags.objective)) return;
  throw UsageError(
      fmt::format("[--planner] {} plans for latency alone; got --objective {}, try --planner dynamic",
                  flags.planner, model_flags.objective));
}

}  // namespace

Pool PoolFor(const std::string& processors) {
  if (!Pool::IsList(processors)) return FromFile(processors);
  try {
    return Pool::FromList(processors);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

Pool PoolOf(const PoolFlags& flags) { return PoolFor(flags.processors).WithExactBytes(flags.exact); }

Pool NamedPool(const std::string& processors, const std::string& machine) {
  if (!machine.empty() && !Pool::IsList(processors))
    throw UsageError(
        fmt::format("[--processors] is no list of processors of --machine; got '{}', expected cpu,gpu or "
                    "cpu,gpu:f16, or all three; "
                    "try without --machine for a file of devices",
                    Printable(processors)));
  if (!machine.empty()) return Pool::FromMachine(FindBoard(machine, "--machine"), processors);
  return PoolFor(Pool::IsList(processors) ? processors : FindBoard(processors, "--processors"));
}

PoolOptions PoolOptionsOf(const ModelFlags& flags, const Context& context) {
  PoolOptions options;
  ModelFlags kernels = flags;
  kernels.plan.clear();  // of the whole pool, not of a processor
  options.kernels = SessionOptionsOf(kernels);
  options.cancel = context.cancel;
  options.note = [&context](const std::string& note) { PrintNote(context, note); };
  return options;
}

void CheckMeasured(const Pool& pool, const Model& model, const PoolOptions& options) {
  if (pool.is_here() && !pool.Measured(model, options))
    throw UsageError(
        "[--processors] nobody has measured this model on these processors; try mete profile MODEL "
        "--processors FILE");
}

Session MakePoolSession(const Model& model, const ModelFlags& model_flags, const PoolFlags& flags,
                        const Context& context) {
  CheckCancelled(context);
  CheckCores(model_flags);
  CheckPlanner(model_flags, flags);
  const Pool pool = PoolOf(flags);
  PoolOptions options = OptionsOf(model_flags, flags, context);
  if (HasWorkers(pool)) CheckMeasured(pool, model, options);
  const auto shown = std::make_shared<FirstProgress>(context);
  options.progress = [shown](const std::string& what, int64_t done, int64_t all) {
    shown->Update(what, done, all);
  };
  Session session = [&] {
    try {
      return Session(model, pool, options);
    } catch (const Error& error) {
      if (model_flags.plan.empty() || error.code() != Code::kInvalidArgument) throw;
      throw Error(error.code(), Reworded(model_flags, error));
    }
  }();
  shown->End();
  if (model_flags.save_plan.empty()) return session;
  SettlePool(session, context);
  WriteTextFile(model_flags.save_plan, session.PlanJson() + "\n");
  return session;
}

bool MeasureOnce(const Model& model, const ModelFlags& model_flags, const PoolFlags& flags,
                 const Context& context) {
  const Pool pool = PoolOf(flags);
  const PoolOptions options = OptionsOf(model_flags, flags, context);
  if (HasWorkers(pool)) CheckMeasured(pool, model, options);
  if (HasWorkers(pool) || pool.Measured(model, options)) return false;
  Session session = MakePoolSession(model, model_flags, flags, context);
  SettlePool(session, context);
  return true;
}

std::vector<std::string> CostFilesOf(const Model& model, const ModelFlags& model_flags,
                                     const PoolFlags& flags, const Context& context) {
  const std::optional<PoolFigures> figures =
      PoolOf(flags).Measured(model, OptionsOf(model_flags, flags, context));
  if (!figures) return {};
  std::vector<std::string> files{figures->path};
  for (const PoolFigures& several : figures->as_several) files.push_back(several.path);
  return files;
}

std::vector<std::string> TimedWords(const PoolFlags& flags) {
  if (!flags.given()) return {};
  const PoolFlags usual;
  const std::vector<std::string> files = FilesOf(flags);
  std::vector<std::string> words{"--processors", files.empty() ? flags.processors : files[0]};
  if (flags.transfer != usual.transfer) words.insert(words.end(), {"--transfer", flags.transfer});
  if (flags.planner != usual.planner) words.insert(words.end(), {"--planner", flags.planner});
  if (flags.keep_plan) words.push_back("--keep-plan");
  if (flags.exact) words.push_back("--exact");
  return words;
}

std::vector<std::string> FilesOf(const PoolFlags& flags) {
  if (!flags.given() || Pool::IsList(flags.processors)) return {};
  return {std::filesystem::absolute(flags.processors).string()};
}

// Notes come as they are told, not at the end as those of a session on one CPU.
void SettlePool(Session& session, const Context& context) {
  if (session.settled()) return;
  const Progress progress(context, "measuring, and building kernels");
  session.Settle();
}

std::vector<Tensor> RunAtHome(Session& session, const std::vector<Tensor>& inputs) {
  return session.Run(inputs, {.alone = RunOptions::Alone::kAlways});
}

}  // namespace mete::cli
