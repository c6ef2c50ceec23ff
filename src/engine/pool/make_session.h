// Makes the internal session of a session on a pool.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/pool/note_book.h"
#include "engine/pool/pool_internals.h"
#include "run/pool_session.h"

namespace mete {

// Makes a session of a model on a pool, and measures the model there if needed. If the pool is a CPU of this
// process with several cores, its cores are also considered as several processors
// (engine/pool/several_processors.h). A plan for these processors is run on them. If no plan is given and the
// options permit a choice, the function makes a session on each, runs both in turns, by `time` if the pool is
// tested, and keeps the faster one. Notes go to `notes`, which the session keeps. Errors as those of Session
// (mete/engine.h).
std::unique_ptr<PoolSession> MakePoolSession(const Graph& graph, const PoolInternals::Impl& pool,
                                             const PoolOptions& options,
                                             const std::shared_ptr<NoteBook>& notes,
                                             const TimeOfSessions& time);

// Returns the times of a session on one CPU and of one on its cores as several processors, measured in turns.
// The second time is infinite if the plan of that session has one processor compute everything, because the
// CPU's own threads know when one of them is enough.
std::vector<double> TimeOneAndSeveral(const std::vector<PoolSession*>& sessions, const CancelToken* cancel);

}  // namespace mete
