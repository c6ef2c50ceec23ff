#include "processor/opencl/find/find_gpus.h"

#include "processor/opencl/find/ask_child.h"
#include "processor/opencl/find/gpu_cache.h"
#include "processor/opencl/info/gpu_choice.h"

namespace mete::opencl {

GpuList FindGpus(const FindGpusOptions& options) {
  if (GpuChoiceFromEnvironment().off) return {.left_out = {"METE_GPU=off: no driver was asked"}};
  const std::string program = options.program.empty() ? GpusProgram() : options.program;
  if (program.empty())
    return {.left_out = {
                "the program mete-gpus, which loads the drivers, is missing; METE_GPUS_PROGRAM names it"}};
  const std::string key = GpuKey(program);
  const auto kept = KeptAnswer(options.cache_folder, key);
  if (kept && !(kept->failed && options.failures == Failures::kTryAgain)) return kept->list;
  const GpuAnswer answer = AskChild(program, options.deadline, options.clock);
  KeepAnswer(options.cache_folder, key, answer);
  return answer.list;
}

}  // namespace mete::opencl
