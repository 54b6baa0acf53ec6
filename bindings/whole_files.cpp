#include <algorithm>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "file.hpp"

namespace tfreel::python {
namespace {

constexpr std::size_t kOpenAtOnce = 64;

std::vector<WholeFile> open_files(std::span<const std::string> paths, bool follow_links,
                                  std::uint64_t largest) {
  const Unlocked unlocked;
  std::vector<WholeFile> files;
  files.reserve(paths.size());
  for (const auto& path : paths) files.emplace_back(path, follow_links, largest);
  return files;
}

// Reads straight into the objects that are given out, which nobody else knows yet.
void read_files(std::vector<WholeFile>& files, std::vector<nb::object>& contents) {
  std::vector<char> read(files.size());
  {
    std::vector<std::span<std::byte>> places;
    for (const auto& content : contents) {
      const auto size = content.is_none() ? 0 : PyBytes_GET_SIZE(content.ptr());
      auto* data = content.is_none() ? nullptr : PyBytes_AS_STRING(content.ptr());
      places.push_back(std::as_writable_bytes(std::span{data, static_cast<std::size_t>(size)}));
    }
    const Unlocked unlocked;
    for (std::size_t i = 0; i < files.size(); ++i) {
      read[i] = files[i].is_open() && files[i].read(places[i]);
    }
    files.clear();
  }
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (!read[i]) contents[i] = nb::none();
  }
}

// The contents of some files, None for each that is not an ordinary one.
nb::list read_whole_files(nb::list names, bool follow_links, std::uint64_t largest) {
  std::vector<std::string> paths;
  for (nb::handle name : names) {
    const auto bytes = BytesView(name).bytes();
    paths.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  nb::list all;
  for (std::size_t begin = 0; begin < paths.size(); begin += kOpenAtOnce) {
    const std::size_t count = std::min(kOpenAtOnce, paths.size() - begin);
    auto files = open_files(std::span(paths).subspan(begin, count), follow_links, largest);
    std::vector<nb::object> contents;
    for (const auto& file : files) {
      nb::object content = nb::none();
      if (file.is_open()) {
        content =
            nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(file.size())));
        if (!content.is_valid()) nb::raise_python_error();
      }
      contents.push_back(std::move(content));
    }
    read_files(files, contents);
    for (const auto& content : contents) all.append(content);
  }
  return all;
}

}  // namespace

void bind_whole_files(nb::module_& module) {
  module.def("read_whole_files", &read_whole_files, nb::arg("paths"), nb::kw_only(),
             nb::arg("follow_links"), nb::arg("largest"),
             "The contents of files, with None for what is no ordinary file of at most that size.");
}

}  // namespace tfreel::python
