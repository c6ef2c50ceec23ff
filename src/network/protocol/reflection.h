// gRPC's reflection, by which tools such as grpcurl list the calls of a server.
#pragma once

#include <grpcpp/grpcpp.h>

namespace mete {

// Takes reflection out of a server in a program that is linked with it: reflection answers any caller that
// has a connection, and it keeps a thread for each stream. (The health service keeps no threads, because it
// is made of callbacks.)
void LeaveOutReflection(grpc::ServerBuilder& builder);

}  // namespace mete
