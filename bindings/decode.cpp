#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "example.hpp"
#include "malformed.hpp"
#include "numpy.hpp"

namespace tfreel::python {
namespace {

nb::object new_array(std::size_t count, int type) {
  npy_intp shape = static_cast<npy_intp>(count);
  return checked(PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(type), 1, &shape,
                                      nullptr, nullptr, 0, nullptr));
}

template <typename Scalar>
Scalar* data_of(const nb::object& array) noexcept {
  return static_cast<Scalar*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
}

nb::object array_of(std::span<const std::int64_t> values) {
  nb::object array = new_array(values.size(), NPY_INT64);
  std::copy(values.begin(), values.end(), data_of<std::int64_t>(array));
  return array;
}

nb::object array_of(std::span<const float> values) {
  nb::object array = new_array(values.size(), NPY_FLOAT);
  std::copy(values.begin(), values.end(), data_of<float>(array));
  return array;
}

// The values of a list that were counted before. Somebody may write to a mapped file while it is
// read: then what was counted no longer holds, and only what was counted has a place.
nb::object list_of(Bytes run, std::size_t count) {
  std::size_t taken = 0;
  const auto require = [&](bool as_counted) {
    if (!as_counted) throw Malformed{run.data(), "a record that changes while it is read"};
  };
  nb::object list = list_of_bytes(count, [&](auto&& add) {
    read_bytes(run, [&](Bytes value) {
      require(taken++ < count);
      add(value);
    });
  });
  require(taken == count);
  return list;
}

nb::object object_of(const SimpleFeature& feature, std::size_t count) {
  switch (feature.kind) {
    case Kind::ints: {
      nb::object array = new_array(count, NPY_INT64);
      read_ints(feature.run, count, data_of<std::int64_t>(array));
      return array;
    }
    case Kind::floats: {
      nb::object array = new_array(count, NPY_FLOAT);
      read_floats(feature.run, count, data_of<float>(array));
      return array;
    }
    case Kind::bytes:
      return list_of(feature.run, count);
    case Kind::none:
      break;
  }
  return nb::none();
}

nb::object object_of(const Values& values) {
  switch (values.kind) {
    case Kind::ints:
      return array_of(std::span(values.ints));
    case Kind::floats:
      return array_of(std::span(values.floats));
    case Kind::bytes:
      return list_of_bytes(values.bytes.size(), [&](auto&& add) {
        for (const Bytes value : values.bytes) add(value);
      });
    case Kind::none:
      break;
  }
  return nb::none();
}

nb::object object_of(Bytes feature) {
  if (const auto simple = read_simple(feature)) {
    if (const auto count = count_values(*simple)) return object_of(*simple, *count);
  }
  Values values;
  values.merge(feature);
  return object_of(values);
}

nb::object object_of(const MapEntry& entry) {
  if (!entry.merged) return object_of(entry.value);
  Values values;
  values.gather(entry);
  return object_of(values);
}

nb::object object_of(const ShortEntry& entry) {
  if (entry.kind == Kind::bytes) {
    return list_of_bytes(1, [&](auto&& add) { add(entry.value); });
  }
  const SimpleFeature feature{entry.kind, entry.value};
  return object_of(feature, *count_values(feature));
}

nb::object rows_of(const MapEntry& entry) {
  nb::list rows;
  for_each_value(entry, [&](Bytes list) {
    for_each_feature(list, [&](Bytes feature) { rows.append(object_of(feature)); });
  });
  return rows;
}

// The names at the same places of the last record: most often the next record has the same.
class Names {
 public:
  nb::object at(std::size_t place, Bytes name) {
    if (place < known_.size() && known_[place].bytes == text(name) &&
        known_[place].object.is_valid()) {
      return known_[place].object;
    }
    require_utf8(name);
    nb::object made = checked(PyUnicode_DecodeUTF8(text(name).data(), text(name).size(), nullptr));
    if (place >= kMostNames || name.size() > kLongestName) return made;
    if (place >= known_.size()) known_.resize(place + 1);
    known_[place] = {std::string(text(name)), made};
    return made;
  }

 private:
  static constexpr std::size_t kMostNames = 1024;
  static constexpr std::size_t kLongestName = 256;
  static std::string_view text(Bytes name) noexcept {
    return {reinterpret_cast<const char*>(name.data()), name.size()};
  }

  struct Name {
    std::string bytes;
    nb::object object;
  };
  std::vector<Name> known_;
};

bool names_a_shape(Bytes name) noexcept {
  constexpr std::string_view suffix = "/shape";
  return name.size() >= suffix.size() &&
         std::memcmp(name.data() + name.size() - suffix.size(), suffix.data(), suffix.size()) == 0;
}

void set_item(const nb::object& dict, const nb::object& key, const nb::object& value) {
  if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) != 0) throw nb::python_error();
}

// Records in, dicts out.
class ExampleDecoder {
 public:
  explicit ExampleDecoder(nb::object restore) : restore_(std::move(restore)) {}

  nb::object decode(nb::object record, bool tensors) {
    const BytesView view(record);
    try {
      return features(view.bytes(), tensors);
    } catch (const Malformed& found) {
      return nb::cast(malformed_in(view.bytes(), found));
    }
  }

  nb::object decode_sequence(nb::object record, bool tensors) {
    const BytesView view(record);
    try {
      const nb::object context = features(view.bytes(), tensors);
      return nb::make_tuple(context, lists(view.bytes()));
    } catch (const Malformed& found) {
      return nb::cast(malformed_in(view.bytes(), found));
    }
  }

 private:
  nb::object features(Bytes record, bool tensors) {
    const nb::object dict = checked(PyDict_New());
    std::size_t place = 0;
    bool shapes = false;
    const auto add = [&](const auto& entry) {
      set_item(dict, feature_names_.at(place++, entry.key), object_of(entry));
      shapes = shapes || names_a_shape(entry.key);
    };
    for_each_entry(record, 1, [&](Bytes bytes) {
      if (const auto entry = read_short_entry(bytes)) return add(*entry);
      add(read_entry(bytes));
    });
    // Tensors are rare among features, and what tells them is rarer still.
    if (tensors && shapes) restore_(dict);
    return dict;
  }

  nb::object lists(Bytes record) {
    const nb::object dict = checked(PyDict_New());
    std::size_t place = 0;
    for_each_entry(record, 2, [&](Bytes bytes) {
      const MapEntry entry = read_entry(bytes);
      set_item(dict, list_names_.at(place++, entry.key), rows_of(entry));
    });
    return dict;
  }

  nb::object restore_;
  Names feature_names_;
  Names list_names_;
};

}  // namespace

void bind_decode(nb::module_& module) {
  nb::class_<MalformedRecord>(module, "Malformed", "Where and why a record is not a message.")
      .def_ro("byte", &MalformedRecord::byte)
      .def_ro("why", &MalformedRecord::why);
  nb::class_<ExampleDecoder>(module, "ExampleDecoder", "Serialized Examples in, dicts out.")
      .def(nb::init<nb::object>(), nb::arg("restore"))
      .def("decode", &ExampleDecoder::decode, nb::arg("record"), nb::arg("tensors"),
           "The features of an Example, or why it is none.")
      .def("decode_sequence", &ExampleDecoder::decode_sequence, nb::arg("record"),
           nb::arg("tensors"),
           "Context and feature lists of a SequenceExample, or why it is none.");
}

}  // namespace tfreel::python
