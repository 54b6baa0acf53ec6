#include "digest.hpp"

#include <mutex>

#include "arrays.hpp"
#include "bindings.hpp"
#include "near.hpp"
#include "parallel.hpp"
#include "record_views.hpp"

namespace tfreel::python {
namespace {

constexpr std::size_t kWorthAThread = 256;  // records

nb::object digests(nb::handle records, bool content, std::size_t threads) {
  const RecordViews views(records);
  const std::size_t count = views.views().size();
  return new_array<std::uint64_t>(2 * count, [&](std::span<std::uint64_t> out) {
    const Unlocked unlocked;
    in_parallel(count, kWorthAThread, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Bytes record = views.views()[i];
        const Digest digest = content ? digest_of_content(record) : digest_of_bytes(record);
        out[2 * i] = digest[0];
        out[2 * i + 1] = digest[1];
      }
    });
  });
}

void add_all(StrongSum& sum, nb::handle records, std::size_t threads) {
  const RecordViews views(records);
  StrongSum total;
  {
    const Unlocked unlocked;
    std::mutex mutex;
    in_parallel(views.views().size(), kWorthAThread, threads,
                [&](std::size_t begin, std::size_t end) {
                  StrongSum part;
                  for (std::size_t i = begin; i < end; ++i) part.add(views.views()[i]);
                  const std::lock_guard lock(mutex);
                  total.merge(part);
                });
  }
  sum.merge(total);
}

std::size_t equal_records(const Block& a, std::size_t i, const Block& b, std::size_t j) {
  const Unlocked unlocked;
  return count_equal(a, i, b, j);
}

std::span<const PictureHash> hashes_of(const Array<std::uint64_t>& words) {
  if (words.shape(0) % 2 != 0) throw nb::value_error("a hash has two words");
  return {reinterpret_cast<const PictureHash*>(words.data()), words.shape(0) / 2};
}

nb::object near_in(const Array<std::uint64_t>& hashes, const Array<std::uint64_t>& limits,
                   std::size_t begin, std::size_t end, unsigned most,
                   const Array<std::uint64_t>& seen) {
  const auto all = hashes_of(hashes);
  if (limits.shape(0) != all.size()) throw nb::value_error("every hash has a limit");
  std::vector<NearPair> pairs;
  {
    const Unlocked unlocked;
    pairs = near_pairs(all, span_of(limits), begin, end, most, hashes_of(seen));
  }
  return new_array<std::uint64_t>(3 * pairs.size(), [&](std::span<std::uint64_t> out) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      out[3 * i] = pairs[i].first;
      out[3 * i + 1] = pairs[i].second;
      out[3 * i + 2] = pairs[i].distance;
    }
  });
}

}  // namespace

void bind_digest(nb::module_& module) {
  module.def("digests", &digests, nb::arg("records"), nb::kw_only(), nb::arg("content"),
             nb::arg("threads") = 1,
             "Two words for each record: the digest of its features, or of its bytes.");
  module.def("equal_records", &equal_records, nb::arg("a"), nb::arg("i"), nb::arg("b"),
             nb::arg("j"), "How many records from there on are the same in both blocks.");
  module.def("near_pairs", &near_in, nb::arg("hashes"), nb::arg("limits"), nb::arg("begin"),
             nb::arg("end"), nb::arg("most"), nb::arg("seen"),
             "First, second and distance of each pair of hashes that differ in few bits.");
  nb::class_<StrongSum>(module, "StrongSum", "A digest of records in any order.")
      .def(nb::init<>())
      .def("add", &add_all, nb::arg("records"), nb::arg("threads") = 1)
      .def("merge", &StrongSum::merge, nb::arg("other"))
      .def("digest", [](const StrongSum& sum) { return to_bytes(sum.digest()); });
}

}  // namespace tfreel::python
