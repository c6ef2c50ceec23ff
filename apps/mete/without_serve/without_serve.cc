// Replaces serve/ if METE_SERVE is off: there is no server.
#include "base/error.h"
#include "commands.h"
#include "top/source.h"

namespace mete::cli {

void AddServe(CLI::App&, Context&) {}

std::unique_ptr<TopSource> MakeServerSource(const std::string& address, const TopFlags&, const Context&) {
  Fail(Code::kUnimplemented, "MODEL",
       "this program was built without the server of models; got the address '{}', expected a model; try to "
       "build "
       "with METE_SERVE=ON",
       Printable(address));
}

}  // namespace mete::cli
