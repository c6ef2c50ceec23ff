#include "import/problems.h"

namespace mete {
namespace {

constexpr size_t kShown = 100;  // lines of each kind, so that a hostile file cannot make an endless message

}  // namespace

void ImportProblems::Add(std::string line) {
  line = Printable(std::move(line));
  if (bad_.size() < kShown) bad_.push_back(std::move(line));
  else ++more_bad_;
}

void ImportProblems::Unsupported(const std::string& what, const std::string& reason, const std::string& who) {
  Count& count = unsupported_[what + ": " + reason];
  if (count.times > 0 && count.last == who) return;
  if (count.times++ == 0) count.first = who;
  count.last = who;
}

void ImportProblems::Throw() const {
  if (!any()) return;
  std::vector<std::string> lines = bad_;
  size_t left_out = more_bad_;
  for (const auto& [what, count] : unsupported_) {
    if (lines.size() < 2 * kShown)
      lines.push_back(Printable(fmt::format("[{}] unsupported {} ({} time{}, first at '{}')", model_, what,
                                            count.times, count.times == 1 ? "" : "s", count.first)));
    else ++left_out;
  }
  if (left_out > 0) lines.push_back(fmt::format("... and {} more", left_out));
  const Code code = bad_model_             ? Code::kInvalidArgument
                    : unsupported_.empty() ? Code::kFailedPrecondition
                                           : Code::kUnimplemented;
  throw Error(code, fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace mete
