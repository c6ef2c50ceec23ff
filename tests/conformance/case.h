// One conformance case: a model with inputs and the expected outputs.
#pragma once

#include <string>
#include <vector>

#include "processor/processor.h"

namespace mete::conformance {

enum class Status { kPassed, kUnsupported, kWrong, kCrashed, kMissing, kNotClaimed };

const char* Name(Status status);
Status StatusOf(const std::string& name);  // kMissing for an unknown name

struct Case {
  std::string name;
  std::string row;  // the operator that the case is counted for
};

struct Outcome {
  Status status = Status::kMissing;
  std::string reason;  // one line; empty if the case passed
};

// Runs the case in `folder` in this process, by a session.
Outcome RunCase(const std::string& folder);

// The same on a processor, which computes the whole model as one share. kNotClaimed: the processor says that
// it cannot compute a node.
Outcome RunCaseOn(Processor& processor, const std::string& folder);

// Runs the case in a child process with limits of time and memory, so that a crash is an outcome too.
Outcome RunCaseApart(const std::string& folder, int seconds, size_t memory_bytes);

}  // namespace mete::conformance
