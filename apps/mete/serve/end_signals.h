// How the signals of a terminal and of a service manager end a server.
#pragma once

namespace mete::cli {

// SIGTERM and SIGINT from the making of this object on. Until Accepting() they end the process at once (with
// kOk and kCancelled), because nothing has been accepted that could be lost: a start that loads large models
// is not waited for, also where the process is the first one of a container, which the kernel ends by no
// signal that is not handled. Later they ask for a drain. Another SIGTERM changes nothing, since service
// managers may send several; another SIGINT is a person who waits no longer, and kills the process. There is
// one such object in a process, and it stays.
class EndSignals {
 public:
  // SIGTERM is unblocked: a parent that reads its own signals elsewhere may have left it blocked.
  EndSignals();
  void Accepting();
  bool asked() const;
};

}  // namespace mete::cli
