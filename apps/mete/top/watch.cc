#include "top/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/json.h"
#include "top/history.h"
#include "top/page.h"
#include "top/screen.h"

namespace mete::cli {
namespace {

// Guess: a key, an interrupt and a new size of the terminal seem to be obeyed at once.
constexpr std::chrono::milliseconds kLook{50};

Clock::Duration IntervalOf(const TopFlags& flags) {
  return std::chrono::duration_cast<Clock::Duration>(std::chrono::duration<double>(flags.interval_s));
}

// Asks once more. Error if the source will not answer again.
void PollInto(top::History& history, TopSource& source) {
  try {
    history.Answered(source.Poll());
  } catch (const Error& error) {
    if (!source.may_come_back()) throw;
    history.Failed(error.what(), SteadySeconds());
  }
}

bool IsInterrupted(const TopFlags& flags, const Context& context) {
  if (flags.count > 0) CheckCancelled(context);
  return context.cancel->cancelled();
}

// A thread that polls, so that keys are obeyed while a source does not answer.
class Poller {
 public:
  Poller(TopSource& source, top::Figures first, Clock::Duration interval)
      : source_(source), interval_(interval) {
    history_.Answered(std::move(first));
    thread_ = std::thread([this] { Poll(); });
  }
  ~Poller() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Error of a source that will not answer again.
  top::View View() const {
    std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return history_.ViewAt(SteadySeconds());
  }
  int polls() const {
    std::lock_guard lock(mutex_);
    return polls_;
  }

 private:
  void Poll() {
    Clock& clock = Clock::Steady();
    std::unique_lock lock(mutex_);
    for (Clock::Time next = clock.Now() + interval_; !error_;
         next = std::max(next + interval_, clock.Now())) {
      if (clock.WaitUntil(changed_, lock, next, [&] { return stop_; })) return;
      top::History history = history_;
      lock.unlock();
      std::exception_ptr error;
      try {
        PollInto(history, source_);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      history_ = std::move(history);
      error_ = error;
      ++polls_;
    }
  }

  TopSource& source_;
  const Clock::Duration interval_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  top::History history_;
  std::exception_ptr error_;
  int polls_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

// What the user has chosen. Returns false if it is the end.
class Choices {
 public:
  bool Obey(Key key, const top::View& view, const top::Page& page) {
    const int most = page.most_scroll, rows = std::max(int(page.lines.size()) - 3, 1);
    const auto scroll = [&](int to) { options_.scroll = std::clamp(to, 0, most); };
    switch (key) {
      case Key::kEnd: return false;
      case Key::kPause: Pause(view); break;
      case Key::kSort: options_.sort = top::NextSort(options_.sort, view); break;
      case Key::kHelp:
        options_.keys = !options_.keys;
        scroll(0);
        break;
      case Key::kUp: scroll(options_.scroll - 1); break;
      case Key::kDown: scroll(options_.scroll + 1); break;
      case Key::kPageUp: scroll(options_.scroll - rows); break;
      case Key::kPageDown: scroll(options_.scroll + rows); break;
      case Key::kFirst: scroll(0); break;
      case Key::kLast: scroll(most); break;
      case Key::kNone: break;
    }
    return true;
  }

  // The view to show instead of the newest one.
  const top::View& Shown(const top::View& newest) const { return options_.paused ? paused_ : newest; }

  top::PageOptions OptionsFor(const Screen& screen) const {
    top::PageOptions options = options_;
    options.rows = screen.rows();
    options.columns = screen.columns();
    options.ascii = screen.ascii();
    return options;
  }
  void Fit(const top::Page& page) { options_.scroll = std::min(options_.scroll, page.most_scroll); }

 private:
  void Pause(const top::View& view) {
    options_.paused = !options_.paused;
    if (options_.paused) paused_ = view;
  }

  top::PageOptions options_;
  top::View paused_;
};

}  // namespace

double SteadySeconds() { return double(NowNs()) * 1e-9; }

void WatchOnScreen(TopSource& source, const TopFlags& flags, const Context& context) {
  top::Figures first = source.Poll();  // its error is told by a terminal that was not taken
  Poller poller(source, std::move(first), IntervalOf(flags));
  Screen screen;
  Choices choices;
  while (!IsInterrupted(flags, context)) {
    const top::View newest = poller.View();
    const top::View& shown = choices.Shown(newest);
    const top::Page page = Draw(shown, choices.OptionsFor(screen));
    choices.Fit(page);
    screen.Show(page);
    if (!choices.Obey(screen.WaitKey(kLook), shown, page)) return;
    if (flags.count > 0 && poller.polls() >= flags.count) return;
  }
}

void WatchInLines(TopSource& source, const TopFlags& flags, const Context& context) {
  top::History history;
  history.Answered(source.Poll());
  Clock::Time next = Clock::Steady().Now();
  for (int interval = 0; flags.count == 0 || interval < flags.count; ++interval) {
    for (next += IntervalOf(flags); Clock::Steady().Now() < next;) {
      if (IsInterrupted(flags, context)) return;
      std::this_thread::sleep_for(std::min<Clock::Duration>(kLook, next - Clock::Steady().Now()));
    }
    PollInto(history, source);
    const top::View view = history.ViewAt(SteadySeconds());
    fmt::print("{}\n", context.json ? JsonText(JsonOf(view), -1) : LineOf(view));
    if (std::fflush(stdout) != 0) throw Error(Code::kUnavailable, "[stdout] cannot write the answer");
  }
  if (history.silent()) throw Error(Code::kUnavailable, history.ViewAt(SteadySeconds()).problem);
}

}  // namespace mete::cli
