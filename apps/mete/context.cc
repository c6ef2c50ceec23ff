#include "context.h"

namespace mete::cli {

ExitCode ExitCodeOf(Code code) {
  switch (code) {
    case Code::kOk: return kOk;
    case Code::kCancelled: return kCancelled;
    case Code::kUnimplemented: return kUnsupported;
    case Code::kFailedPrecondition: return kUsage;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kOutOfRange:
    case Code::kDataLoss: return kBadFile;
    default: return kFailure;
  }
}

void CheckCancelled(const Context& context) {
  if (context.cancel && context.cancel->cancelled()) throw Error(Code::kCancelled, "[mete] interrupted");
}

}  // namespace mete::cli
