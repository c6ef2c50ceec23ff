#include "mete/session_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/unpinned.h"

namespace mete {
namespace {

void Check(const SessionPoolOptions& options) {
  const size_t cores = options.session.cores.size();
  if (options.sessions < 1) Invalid("sessions", "are too few; got {}, expected 1 or more", options.sessions);
  if (options.session.threads < 0)
    Invalid("threads", "cannot be negative; got {}, expected 0 or more", options.session.threads);
  if (options.most_waiting < 1)
    Invalid("most_waiting", "is too small; got {}, expected 1 or more", options.most_waiting);
  if (options.sessions > 1 && !options.session.plan_json.empty())
    Invalid("plan_json",
            "has the threads and cores of one session; got a plan for {} sessions, expected none",
            options.sessions);
  if (const size_t speeds = options.session.speeds.size(); speeds % size_t(options.sessions) != 0)
    Invalid("speeds", "cannot be divided among the sessions; got {} for {} sessions", speeds,
            options.sessions);
  if (cores == 0) return;
  const size_t sessions = size_t(options.sessions), threads = size_t(options.session.threads);
  if (threads > 0 ? cores != sessions * threads : cores % sessions != 0)
    Invalid("cores", "cannot be divided among the sessions; got {} for {} sessions of {} threads", cores,
            sessions, threads > 0 ? std::to_string(threads) : "equally many");
}

// Returns the part [i * each, (i + 1) * each) of what the options have for all sessions.
template <class T>
std::vector<T> PartOf(const std::vector<T>& all, int sessions, int i) {
  const auto each = std::ptrdiff_t(all.size()) / sessions;
  return {all.begin() + each * i, all.begin() + each * (i + 1)};
}

SessionOptions OptionsOf(const SessionPoolOptions& options, int i) {
  SessionOptions session = options.session;
  session.cores = PartOf(options.session.cores, options.sessions, i);
  session.speeds = PartOf(options.session.speeds, options.sessions, i);
  return session;
}

struct SubmittedRun {
  std::vector<Tensor> inputs;
  RunOptions options;
  std::promise<std::vector<Tensor>> answer;
};

}  // namespace

struct SessionPool::Impl {
  Impl(const Model& model, const SessionPoolOptions& options) : most_waiting(options.most_waiting) {
    Check(options);
    // One after the other: each takes the times that the one before it has measured.
    for (int i = 0; i < options.sessions; ++i) sessions.emplace_back(model, OptionsOf(options, i));
    try {
      for (Session& session : sessions) threads.emplace_back(Unpinned([this, &session] { Work(session); }));
    } catch (...) {
      End();
      throw;
    }
  }

  ~Impl() { End(); }

  // Returns when all runs that were submitted have their answers.
  void End() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    threads.clear();  // joins them
  }

  void Work(Session& session) {
    while (std::optional<SubmittedRun> run = Next()) {
      try {
        run->answer.set_value(session.Run(std::span<const Tensor>(run->inputs), run->options));
      } catch (...) {
        run->answer.set_exception(std::current_exception());
      }
    }
  }

  // Waits for a run. Returns nothing if no more will come.
  std::optional<SubmittedRun> Next() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ending || !runs.empty(); });
    if (runs.empty()) return std::nullopt;
    SubmittedRun run = std::move(runs.front());
    runs.pop_front();
    return run;
  }

  const size_t most_waiting;
  std::deque<Session> sessions;
  mutable std::mutex mutex;  // guards `runs` and `ending`
  std::condition_variable changed;
  std::deque<SubmittedRun> runs;  // that wait, the first submitted first
  bool ending = false;
  std::vector<std::jthread> threads;
};

SessionPool::SessionPool(const Model& model, const SessionPoolOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

SessionPool::~SessionPool() = default;

std::future<std::vector<Tensor>> SessionPool::Submit(std::vector<Tensor> inputs, const RunOptions& options) {
  SubmittedRun run{std::move(inputs), options, {}};
  std::future<std::vector<Tensor>> answer = run.answer.get_future();
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->runs.size() >= impl_->most_waiting)
      Fail(Code::kResourceExhausted, "sessions",
           "as many runs wait as may; got one more than {}; try again later, or more sessions or a higher "
           "SessionPoolOptions::most_waiting",
           impl_->most_waiting);
    impl_->runs.push_back(std::move(run));
  }
  impl_->changed.notify_one();
  return answer;
}

size_t SessionPool::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->runs.size();
}

}  // namespace mete
