// A record that is not a valid message, as Python sees it: a value, which Python may raise.
#pragma once

#include <cstddef>

#include "bindings.hpp"
#include "wire.hpp"

namespace tfreel::python {

struct MalformedRecord {
  std::size_t byte;  // in the record
  const char* why;
};

inline MalformedRecord malformed_in(Bytes record, const Malformed& found) noexcept {
  return {static_cast<std::size_t>(found.at - record.data()), found.why};
}

}  // namespace tfreel::python
