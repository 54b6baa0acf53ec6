#include "fetch.hpp"

#include "bindings.hpp"
#include "index_arrays.hpp"

namespace tfreel::python {
namespace {

// An open file with its index: what random access needs, put together once.
class IndexedFile {
 public:
  IndexedFile(int descriptor, Array<std::uint64_t> offsets, Array<std::uint64_t> lengths,
              Array<std::uint32_t> checksums)
      : descriptor_(descriptor),
        index_(std::move(offsets), std::move(lengths), std::move(checksums)) {}

  nb::object fetch(const Array<std::uint64_t>& picks, std::size_t threads) const {
    auto found = read(span_of(picks), threads);
    if (auto* block = std::get_if<Block>(&found)) return nb::cast(std::move(*block));
    return nb::cast(std::get<Fault>(found));
  }

  nb::object fetch_one(std::uint64_t pick) const {
    const auto found = read({&pick, 1}, 1);
    if (const auto* block = std::get_if<Block>(&found)) return to_bytes(block->payload(0));
    return nb::cast(std::get<Fault>(found));
  }

 private:
  std::variant<Block, Fault> read(std::span<const std::uint64_t> picks, std::size_t threads) const {
    // One pool for the process: its lock is held for the moment of a hand-over only.
    static const auto pool = std::make_shared<BufferPool>();
    const IndexColumns index = index_.columns();
    const Unlocked unlocked;
    return tfreel::fetch(descriptor_, index, picks, *pool, threads);
  }

  int descriptor_;
  IndexArrays index_;
};

}  // namespace

void bind_fetch(nb::module_& module) {
  nb::class_<IndexedFile>(module, "IndexedFile", "An open file with its index.")
      .def(nb::init<int, Array<std::uint64_t>, Array<std::uint64_t>, Array<std::uint32_t>>(),
           nb::arg("descriptor"), nb::arg("offsets"), nb::arg("lengths"), nb::arg("checksums"))
      .def("fetch", &IndexedFile::fetch, nb::arg("picks"), nb::arg("threads") = 1,
           "Records `picks`, as a Block (perhaps only the first of them) or a Fault.")
      .def("fetch_one", &IndexedFile::fetch_one, nb::arg("pick"),
           "One record, as bytes or a Fault.");
}

}  // namespace tfreel::python
