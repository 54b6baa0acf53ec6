#include "parallel.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace tfreel {

void in_parallel(std::size_t size, std::size_t smallest, std::size_t threads,
                 const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t parts = std::max<std::size_t>(1, std::min(threads, size / smallest));
  if (parts == 1) return work(0, size);
  std::vector<std::exception_ptr> errors(parts);
  const auto run = [&](std::size_t part) noexcept {
    try {
      work(size * part / parts, size * (part + 1) / parts);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;  // not of std::jthread, which libc++ has only since LLVM 20
  helpers.reserve(parts - 1);
  for (std::size_t part = 1; part < parts; ++part) {
    try {
      helpers.emplace_back(run, part);
    } catch (const std::exception&) {
      run(part);  // no thread to be had, or no memory for one: it can be done here too
    }
  }
  run(0);
  for (std::thread& helper : helpers) helper.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace tfreel
