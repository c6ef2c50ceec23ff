#include "serve/server/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/problems.h"
#include "serve/repository/repository.h"
#include "serve/server/batch.h"
#include "serve/server/described.h"
#include "serve/server/infer_job.h"
#include "serve/server/later.h"
#include "serve/server/versions.h"

namespace mete::serve {
namespace {

SlotCores CoresOf(const ServerOptions& options) {
  return {options.session, options.queue.slots, options.wide, options.wide_processors};
}

Nanoseconds InNanoseconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// The name of what computes in each slot.
std::vector<std::string> ProcessorsOf(const ServerOptions& options) {
  std::vector<std::string> names;
  for (int slot = 0; slot < options.queue.slots; ++slot) {
    const std::vector<int> cores = NarrowOptions(CoresOf(options), slot).cores;
    names.push_back(cores.empty() ? "cpu" : fmt::format("cpu:{}", fmt::join(cores, "-")));
  }
  return names;
}

// What is wrong with a model in the repository, to be added to an error.
std::string ProblemsOf(const Repository& repository, const std::string& model) {
  std::string text;
  for (const RepositoryProblem& problem : repository.problems)
    if (problem.model == model) text += "\n" + problem.text;
  return text;
}

}  // namespace

struct Server::Impl {
  explicit Impl(ServerOptions given)
      : options(std::move(given)),
        metrics(MakeMetrics(ProcessorsOf(options), options.version)),
        slots(options.queue, [this](const Start& start, std::vector<std::unique_ptr<Job>> jobs) {
          const auto count = [&](Nanoseconds time) {
            metrics->Count(
                StartFigures{.slot = start.slot, .wide = start.wide, .busy_s = double(time) * 1e-9});
          };
          const Nanoseconds began = NowNs();
          if (LetLoadCompute(jobs)) {
            count(NowNs() - began);
            return Computed{};
          }
          if (auto* guest = dynamic_cast<GuestJob*>(jobs[0].get()))
            return ComputeGuestJob(*guest, PlaceOf(start), count);
          return ComputeJobs(start, std::move(jobs));
        }) {}

  GuestPlace PlaceOf(const Start& start) const {
    if (start.wide || options.queue.slots == 1) return {.wide = true};
    const std::vector<int> cores = NarrowOptions(CoresOf(options), start.slot).cores;
    return {.slot = start.slot, .core = cores.empty() ? -1 : cores[0]};
  }

  void Note(const std::string& text) const {
    if (options.note) options.note(text);
  }

  // Returns the number of the request for the slots; 0: it was refused.
  uint64_t Submit(std::unique_ptr<InferJob> infer,
                  std::optional<std::chrono::steady_clock::time_point> deadline) {
    const std::shared_ptr<Loaded> loaded = infer->loaded;
    infer->arrived = NowNs();
    infer->rows = RowsOf(*infer);
    infer->most_pixels = options.most_pixels;
    Arrival arrival;
    arrival.model = loaded->number;
    arrival.deadline = deadline ? InNanoseconds(*deadline) : loaded->DeadlineAfter(infer->arrived);
    arrival.batch_key = infer->rows > 0 ? BatchKeyOf(*infer) : 0;
    arrival.rows = int(std::max<int64_t>(infer->rows, 1));
    size_t bytes = 0;
    for (const std::string& picture : infer->pictures) bytes += picture.size();
    arrival.preparing = bytes > 0 ? loaded->PreparingOf(bytes) : 0;
    std::unique_ptr<Job> job = std::move(infer);
    const Admission admission = slots.Submit(arrival, job);
    if (admission.refusal == Refusal::kNone) return arrival.request;
    static_cast<InferJob&>(*job).End(OutcomeOf(admission.refusal, double(admission.retry_after) * 1e-9));
    return 0;
  }

  void LoadVersion(const RepositoryModel& entry, const ModelVersion& version);
  void LoadModel(const std::string& name);

  const Nanoseconds began = NowNs();
  const ServerOptions options;
  const std::unique_ptr<Metrics> metrics;
  Slots slots;
  Versions versions;
  std::mutex loading;  // one model is loaded at a time
  std::atomic<bool> draining{false}, started{false};
  LaterThread later;  // the last member, so that its work ends first
};

void Server::Impl::LoadVersion(const RepositoryModel& entry, const ModelVersion& version) {
  const std::string number = std::to_string(version.version);
  versions.Begin(entry.name, number);
  try {
    const Nanoseconds start = NowNs();
    SlotCores cores = CoresOf(options);
    cores.count_processor = [this](const std::string& processor, double busy_s) {
      metrics->CountProcessor(processor, busy_s);
    };
    auto model = std::make_unique<ServedModel>(version.path, entry.settings.precision, cores, slots);
    for (const std::string& note : model->notes()) Note(fmt::format("{} {}: {}", entry.name, number, note));
    versions.Ready(
        std::make_shared<Loaded>(entry.name, number, std::move(model), entry.settings, slots, *metrics));
    Note(fmt::format("{} {} is ready after {:.0f} ms", entry.name, number, double(NowNs() - start) * 1e-6));
  } catch (const std::exception& error) {
    versions.Failed(entry.name, number, error.what());
    throw;
  }
}

void Server::Impl::LoadModel(const std::string& name) {
  const std::lock_guard one(loading);
  const Repository repository = ReadRepository(options.repository);
  const auto entry = std::find_if(repository.models.begin(), repository.models.end(),
                                  [&](const RepositoryModel& model) { return model.name == name; });
  if (entry == repository.models.end())
    Fail(Code::kNotFound, Printable(name), "the repository has no such model{}",
         ProblemsOf(repository, name));
  const std::vector<ModelVersion> chosen = ChosenVersions(*entry);
  if (chosen.empty())
    Fail(Code::kNotFound, name, "the repository has none of the versions that serve.toml names{}",
         ProblemsOf(repository, name));
  std::set<std::string> kept;
  Problems problems;  // of a version: they hinder no other
  for (const ModelVersion& version : chosen) {
    problems.Try([&] { LoadVersion(*entry, version); });
    kept.insert(std::to_string(version.version));
  }
  problems.ThrowIfAny();
  versions.Keep(name, kept);
}

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  const Repository repository = ReadRepository(impl_->options.repository);
  for (const RepositoryProblem& problem : repository.problems) {
    impl_->Note(problem.text);
    const bool is_there =
        std::any_of(repository.models.begin(), repository.models.end(),
                    [&](const RepositoryModel& model) { return model.name == problem.model; });
    if (!problem.model.empty() && !is_there) impl_->versions.Failed(problem.model, "", problem.text);
  }
  for (const std::string& note : repository.notes) impl_->Note(note);
  for (const RepositoryModel& model : repository.models) {
    if (!impl_->options.load_all || !model.settings.load) {
      for (const ModelVersion& version : model.versions)
        impl_->versions.Known(model.name, std::to_string(version.version));
      continue;
    }
    try {
      impl_->LoadModel(model.name);
    } catch (const std::exception& error) {
      const bool in_part = impl_->versions.IsReady(model.name, "");
      impl_->Note(
          fmt::format("{} is {}: {}", model.name, in_part ? "served in part" : "not served", error.what()));
      if (ChosenVersions(model).empty()) impl_->versions.Failed(model.name, "", error.what());
    }
  }
  impl_->started = true;
}

Server::~Server() { Drain(std::chrono::milliseconds::max()); }

uint64_t Server::Infer(const std::string& model, const std::string& version, InferRequest request,
                       std::optional<std::chrono::steady_clock::time_point> deadline, OnOutcome done) try {
  auto job = std::make_unique<InferJob>();
  job->loaded = impl_->versions.Find(model, version);
  job->inputs = job->loaded->model->InputsOf(request);
  job->outputs = job->loaded->model->OutputsOf(request);
  for (NamedTensor& input : request.inputs)
    if (input.is_bytes()) {
      job->loaded->model->CheckPictures(input.texts.size(), impl_->options.most_input_bytes);
      job->pictures = std::move(input.texts);
    }
  job->request = std::move(request);
  job->done = done;
  return impl_->Submit(std::move(job), deadline);
} catch (const Error& error) {
  CountRefused(*impl_->metrics, model, version, error.code());
  done(OutcomeOf(error));
  return 0;
}

std::optional<Outcome> Server::RefusalByLoad(const std::string& model, const std::string& version) try {
  const std::shared_ptr<Loaded> loaded = impl_->versions.Find(model, version);
  const Admission admission = impl_->slots.Refuse(loaded->number);
  if (admission.refusal == Refusal::kNone) return std::nullopt;
  const Outcome outcome = OutcomeOf(admission.refusal, double(admission.retry_after) * 1e-9);
  CountRefused(*impl_->metrics, loaded->name, loaded->version, outcome.code);
  return outcome;
} catch (const Error&) {
  return std::nullopt;  // Infer() says so
}

uint64_t Server::Classify(const std::string& model, const std::string& version, std::string picture,
                          int classes, std::optional<std::chrono::steady_clock::time_point> deadline,
                          OnOutcome done) try {
  auto job = std::make_unique<InferJob>();
  job->loaded = impl_->versions.Find(model, version);
  const ServedModel& served = *job->loaded->model;
  if (const std::string why = served.why_no_classes(); !why.empty())
    Fail(Code::kFailedPrecondition, model, "cannot classify pictures: {}; try infer", why);
  job->pictures.push_back(std::move(picture));
  job->inputs.resize(1);
  job->wanted = Wanted::kClasses;
  job->classes = classes > 0 ? classes : served.top_k();
  job->done = done;
  return impl_->Submit(std::move(job), deadline);
} catch (const Error& error) {
  CountRefused(*impl_->metrics, model, version, error.code());
  done(OutcomeOf(error));
  return 0;
}

void Server::Cancel(uint64_t request) { impl_->slots.Cancel(request); }

ModelMetadata Server::Metadata(const std::string& model, const std::string& version) const {
  const std::shared_ptr<Loaded> loaded = impl_->versions.Find(model, version);
  return MetadataOf(*loaded, impl_->versions.ReadyOf(model));
}

PictureUse Server::Pictures(const std::string& model, const std::string& version) const {
  return PictureUseOf(*impl_->versions.Find(model, version)->model);
}

bool Server::IsReady(const std::string& model, const std::string& version) const {
  return impl_->versions.IsReady(model, version);
}

std::vector<IndexEntry> Server::Index() const { return impl_->versions.Index(); }

std::vector<ModelStatistics> Server::Statistics(const std::string& model, const std::string& version) const {
  std::vector<ModelStatistics> all;
  if (!model.empty() && !version.empty()) return {impl_->versions.Find(model, version)->statistics()};
  if (!model.empty()) (void)impl_->versions.Find(model, "");  // an Error if there is none
  for (const std::shared_ptr<Loaded>& loaded : impl_->versions.AllOf(model))
    all.push_back(loaded->statistics());
  return all;
}

void Server::Load(const std::string& model) {
  if (impl_->draining) Fail(Code::kUnavailable, "server", "it is ending and loads no more models");
  impl_->LoadModel(model);
}

void Server::Unload(const std::string& model) {
  const std::lock_guard one(impl_->loading);
  impl_->versions.Unload(model);
}

int Server::AddGuest() { return impl_->slots.AddModel({}); }
void Server::RemoveGuest(int guest) { impl_->slots.RemoveModel(guest); }

void Server::ComputeGuest(int guest, const GuestWork& work) {
  auto job = std::make_unique<GuestJob>(work);
  std::future<void> done = job->done.get_future();
  std::unique_ptr<Job> submitted = std::move(job);
  Arrival arrival{.model = guest};
  const Admission admission = impl_->slots.Submit(arrival, submitted);
  if (admission.refusal != Refusal::kNone) submitted->GiveUp(admission.refusal);
  done.get();
}

void Server::Later(std::function<void()> work) { impl_->later.Call(std::move(work)); }

bool Server::ready() const { return impl_->started && !impl_->draining && impl_->versions.AllReady(); }

int Server::waiting() const { return impl_->slots.waiting(); }
int Server::under_way() const { return impl_->slots.under_way(); }
double Server::predicted_wait_us() const { return double(impl_->slots.PredictedWait()) * 1e-3; }

std::string Server::MetricsText() const {
  ServerFigures now;
  now.waiting = waiting();
  now.under_way = under_way();
  now.predicted_wait_s = predicted_wait_us() * 1e-6;
  now.uptime_s = double(NowNs() - impl_->began) * 1e-9;
  for (const std::shared_ptr<Loaded>& loaded : impl_->versions.AllOf(""))
    now.loaded.push_back(
        {loaded->name, loaded->version, impl_->slots.waiting(loaded->number), loaded->model->plan()});
  for (const IndexEntry& entry : Index()) ++now.models[entry.state];
  now.process = ReadProcessUse();
  return impl_->metrics->Text(now);
}

bool Server::Drain(std::chrono::milliseconds limit) {
  impl_->draining = true;
  const auto now = Clock::Steady().Now();
  const bool endless = limit >= std::chrono::hours(24 * 365);
  if (impl_->slots.Drain(endless ? Clock::Time::max() : now + limit)) return true;
  impl_->slots.GiveUpWaiting();
  return false;
}

}  // namespace mete::serve
