// Asks the child process, and believes nothing of what it says before it is checked.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "processor/opencl/find/find_gpus.h"

namespace mete::opencl {

// The answer of `mete-gpus`, also as it is kept.
struct GpuAnswer {
  GpuList list;
  std::vector<std::string> files;  // facts of those that the child had loaded (find/mapped_files.h)
  bool failed = false;             // the child crashed, hung or made nonsense; the list has the reason
  bool hung = false;               // it failed because it had not answered at its deadline
};

nlohmann::ordered_json ToJson(const GpuAnswer& answer);
// Throws Errors that name `where`; the number and the length of all texts are bounded.
GpuAnswer GpuAnswerFromJson(const nlohmann::ordered_json& j, const std::string& where);

// Runs the program until the options' deadline and returns its answer, the last line of its output. Throws
// CANCELLED alone: what goes wrong is the reason of a failed answer. `driver`: the file that registers the
// only driver that the program shall load; empty: all that the loader finds.
GpuAnswer AskChild(const std::string& program, const std::string& driver, const FindGpusOptions& options);

}  // namespace mete::opencl
