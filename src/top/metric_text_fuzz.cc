// A libFuzzer target that reads any bytes as the metrics of a server, makes a view of them and of what they
// were before, and draws it: no byte that a terminal obeys may come out.
#include <cstdint>
#include <cstdlib>

#include "mete/error.h"
#include "top/metric_text.h"
#include "top/page.h"
#include "top/server_figures.h"
#include "top/view.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mete::top;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Figures before = ServerFiguresOf(ReadMetrics(text.substr(0, size / 2), "server"), "server", 1);
    const Figures now = ServerFiguresOf(ReadMetrics(text.substr(size / 2), "server"), "server", 2);
    const View view = Compare(before, now);
    for (const std::string& line : TextOf(Draw(view, {.rows = 24, .columns = 80})))
      for (const char c : line)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) std::abort();
    (void)LineOf(view);
    (void)JsonOf(view);
  } catch (const mete::Error&) {}
  return 0;
}
