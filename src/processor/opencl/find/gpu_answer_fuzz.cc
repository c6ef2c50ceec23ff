// A libFuzzer target: reads any bytes as the answer of mete-gpus. An accepted answer must be the same behind
// its JSON.
#include <cstdlib>

#include "mete/error.h"
#include "processor/opencl/find/ask_child.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mete;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const opencl::GpuAnswer answer = opencl::GpuAnswerFromJson(ParseJson(text, "fuzz"), "fuzz");
    const std::string again = JsonText(opencl::ToJson(answer), -1);
    const opencl::GpuAnswer same = opencl::GpuAnswerFromJson(ParseJson(again, "fuzz"), "fuzz");
    if (!(answer.list == same.list) || answer.files != same.files || answer.failed != same.failed)
      std::abort();
  } catch (const Error&) {
  } catch (const nlohmann::ordered_json::exception&) {}
  return 0;
}
