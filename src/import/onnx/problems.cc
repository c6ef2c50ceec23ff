#include "import/onnx/problems.h"

namespace mete::onnx_import {
namespace {

constexpr size_t kShown = 100;  // lines; a hostile file must not make an endless message

}  // namespace

void Problems::Unsupported(const std::string& what, const std::string& reason, const std::string& first) {
  Count& count = unsupported_[what + ": " + reason];
  if (count.times++ == 0) count.first = first;
}

void Problems::Throw() const {
  if (!any()) return;
  std::string text;
  size_t lines = 0;
  auto add = [&](const std::string& line) {
    if (lines++ < kShown) text += (text.empty() ? "" : "\n") + line;
  };
  for (const std::string& line : bad_) add(line);
  for (const auto& [what, count] : unsupported_)
    add(fmt::format("[{}] unsupported {} ({} time{}, first at '{}')", model_, what, count.times, count.times == 1 ? "" : "s", count.first));
  if (lines > kShown) text += fmt::format("\n... and {} more", lines - kShown);
  throw Error(bad_.empty() ? Code::kUnimplemented : Code::kInvalidArgument, text);
}

}  // namespace mete::onnx_import
