// Whether a request that changes something was sent by a web page of another server: a browser sends the
// requests of every open page, also to servers that only this host reaches.
#pragma once

#include <string>

namespace mete::serve {

// Returns why a request is refused that has these headers ("" if it has none); "" if it is not refused.
// Browsers name the page's origin, "http://localhost:8080", which has to be the host that the request is for.
// Programs name none, and are not refused. `local`: the server is there for its own host alone. Then the host
// has to be an address or "localhost" as well, because a page whose name leads to 127.0.0.1 for a moment
// ("DNS rebinding") names its own origin.
std::string WhyForeign(const std::string& origin, const std::string& host, bool local);

}  // namespace mete::serve
