// A range of work, shared among threads that live no longer than the work. Starting one costs some
// 20 microseconds: whoever calls says what is worth that. None of them outlives the call, so there
// is nothing that a fork could break.
#pragma once

#include <cstddef>
#include <functional>

namespace tfreel {

// Calls `work(begin, end)` for consecutive parts of [0, size), each at least `smallest` long except
// where there is only one, in at most `threads` threads, the caller's among them. When all have
// ended, throws what the first part that threw had thrown.
void in_parallel(std::size_t size, std::size_t smallest, std::size_t threads,
                 const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace tfreel
