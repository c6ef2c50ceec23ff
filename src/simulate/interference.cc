#include "simulate/interference.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "base/error.h"
#include "machine/core_list.h"

namespace mete {
namespace {

constexpr const char* kExpected =
    "expected none, or steady, periodic or random with cores=LIST,share=S and, but for steady, period_ms=T "
    "(random: seed=N); "
    "try periodic:cores=7,share=0.3,period_ms=5";

template <class T>
bool ParseNumber(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool SetCores(const std::string& text, Interference* interference) {
  const auto cores = ParseCoreList(text);
  if (cores) interference->cores = *cores;
  return cores.has_value();
}

bool SetPeriod(std::string_view text, Interference* interference) {
  double ms = 0;
  if (!ParseNumber(text, &ms) || !(ms >= 0) || ms * 1e6 > double(Interference::kMostPeriodNs)) return false;
  interference->period_ns = std::llround(ms * 1e6);
  return true;
}

bool Set(std::string_view key, const std::string& value, Interference* interference) {
  using Kind = Interference::Kind;
  if (key == "cores") return SetCores(value, interference);
  if (key == "share") return ParseNumber(value, &interference->share);
  if (key == "period_ms") return interference->kind != Kind::kSteady && SetPeriod(value, interference);
  return key == "seed" && interference->kind == Kind::kRandom && ParseNumber(value, &interference->seed);
}

// Splits a text such as "cores=4-5,7,share=0.3"; a word without '=' belongs to the value before it.
std::vector<std::string> Assignments(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string word(text.substr(0, comma));
    if (word.find('=') == std::string::npos && !words.empty()) words.back() += "," + word;
    else words.push_back(word);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

bool SetKind(std::string_view name, Interference* interference) {
  constexpr std::string_view kKinds[] = {"steady", "periodic", "random"};
  const auto kind = std::find(std::begin(kKinds), std::end(kKinds), name);
  interference->kind = Interference::Kind(kind - std::begin(kKinds));
  return kind != std::end(kKinds);
}

}  // namespace

void ParseInterference(const std::string& text, const std::string& where, std::vector<Interference>& list) {
  if (text == "none") return;
  const size_t colon = std::min(text.find(':'), text.size());
  Interference interference;
  bool good = SetKind(std::string_view(text).substr(0, colon), &interference);
  const std::vector<std::string> words =
      Assignments(std::string_view(text).substr(std::min(colon + 1, text.size())));
  for (const std::string& word : words) {
    const size_t equal = word.find('=');
    good = good && equal != std::string::npos &&
           Set(std::string_view(word).substr(0, equal), word.substr(equal + 1), &interference);
  }
  if (!good || interference.cores.empty())
    Invalid(where, "not an interference; got '{}', {}", Printable(text.substr(0, 80)), kExpected);
  list.push_back(std::move(interference));
}

void Verify(const std::vector<Interference>& list) {
  std::set<int> cores;
  for (const Interference& i : list) {
    if (!(i.share > 0 && i.share <= Interference::kMostLost))
      Invalid("interference",
              "a share of time that others take is wrong; got {}, expected above 0 and at most {}", i.share,
              Interference::kMostLost);
    if (i.period_ns < Interference::kLeastPeriodNs || i.period_ns > Interference::kMostPeriodNs)
      Invalid("interference", "a period is out of bounds; got {} ms, expected {} to {}",
              double(i.period_ns) * 1e-6, Interference::kLeastPeriodNs * 1e-6,
              Interference::kMostPeriodNs * 1e-6);
    for (int core : i.cores)
      if (!cores.insert(core).second)
        Invalid("interference", "core {} is disturbed twice; expected one kind for each core", core);
  }
}

double LostShare(const std::vector<Interference>& list, int cpu) {
  for (const Interference& i : list)
    if (std::find(i.cores.begin(), i.cores.end(), cpu) != i.cores.end()) return i.share;
  return 0;
}

CoreTime::CoreTime(const std::vector<Interference>& list, int cpu) {
  for (const Interference& i : list)
    if (std::find(i.cores.begin(), i.cores.end(), cpu) != i.cores.end()) {
      disturbed_ = true;
      by_ = i;
    }
  if (!disturbed_ || by_.kind != Interference::Kind::kRandom) return;
  std::seed_seq seeds{uint32_t(by_.seed), uint32_t(by_.seed >> 32), uint32_t(cpu)};
  random_.seed(seeds);
  free_end_ns_ = Draw(double(by_.period_ns) * (1 - by_.share));
}

int64_t CoreTime::Finish(int64_t start_ns, double work_ns) {
  if (!disturbed_) return start_ns + int64_t(work_ns);
  switch (by_.kind) {
    case Interference::Kind::kSteady: return start_ns + int64_t(work_ns / (1 - by_.share));
    case Interference::Kind::kPeriodic: return FinishPeriodic(start_ns, work_ns);
    case Interference::Kind::kRandom: return FinishRandom(start_ns, work_ns);
  }
  return start_ns;
}

int64_t CoreTime::FinishPeriodic(int64_t start_ns, double work_ns) const {
  const double lost = double(by_.period_ns) * by_.share, ours = double(by_.period_ns) - lost;
  const int64_t begin = start_ns / by_.period_ns * by_.period_ns;
  const double from = std::max(double(start_ns - begin), lost);  // since the period's begin
  const double rest = double(by_.period_ns) - from;
  if (work_ns <= rest) return begin + int64_t(std::ceil(from + work_ns));
  const double more = work_ns - rest, whole = std::ceil(more / ours) - 1;  // periods that are filled
  return begin + by_.period_ns * (1 + int64_t(whole)) + int64_t(std::ceil(lost + more - whole * ours));
}

int64_t CoreTime::FinishRandom(int64_t start_ns, double work_ns) {
  while (start_ns >= free_end_ns_) NextPause();
  start_ns = std::max(start_ns, free_begin_ns_);
  for (double rest = double(free_end_ns_ - start_ns); work_ns > rest;
       rest = double(free_end_ns_ - start_ns)) {
    work_ns -= rest;
    NextPause();
    start_ns = free_begin_ns_;
  }
  return start_ns + int64_t(work_ns);
}

void CoreTime::NextPause() {
  free_begin_ns_ = free_end_ns_ + Draw(double(by_.period_ns) * by_.share);
  free_end_ns_ = free_begin_ns_ + Draw(double(by_.period_ns) * (1 - by_.share));
}

// Draws from the exponential distribution. It is not that of the standard library, because those differ from
// one implementation to another.
int64_t CoreTime::Draw(double mean_ns) {
  const double uniform = double(random_() >> 11) * 0x1p-53;  // [0, 1)
  return 1 + int64_t(-mean_ns * std::log1p(-uniform));
}

}  // namespace mete
