// The stable ABI, for which wheels of Python 3.12 and newer are built, has functions where Python
// itself has macros. They cost a call and a check each; here they go by the names of the macros, so
// that there is one way to write either.
#pragma once

#include <Python.h>

#ifdef Py_LIMITED_API

inline char* PyBytes_AS_STRING(PyObject* bytes) noexcept { return PyBytes_AsString(bytes); }
inline Py_ssize_t PyBytes_GET_SIZE(PyObject* bytes) noexcept { return PyBytes_Size(bytes); }
inline double PyFloat_AS_DOUBLE(PyObject* number) noexcept { return PyFloat_AsDouble(number); }
inline Py_ssize_t PyDict_GET_SIZE(PyObject* dict) noexcept { return PyDict_Size(dict); }
inline Py_ssize_t PyTuple_GET_SIZE(PyObject* tuple) noexcept { return PyTuple_Size(tuple); }
inline PyObject* PyTuple_GET_ITEM(PyObject* tuple, Py_ssize_t i) noexcept {
  return PyTuple_GetItem(tuple, i);
}
inline void PyList_SET_ITEM(PyObject* list, Py_ssize_t i, PyObject* item) noexcept {
  PyList_SetItem(list, i, item);
}
inline Py_ssize_t PyList_GET_SIZE(PyObject* list) noexcept { return PyList_Size(list); }
inline PyObject* PyList_GET_ITEM(PyObject* list, Py_ssize_t i) noexcept {
  return PyList_GetItem(list, i);
}

// Of a list or a tuple. Python 3.12 and 3.13 have these macros here too, later ones do not.
#undef PySequence_Fast_GET_SIZE
#undef PySequence_Fast_GET_ITEM
inline Py_ssize_t PySequence_Fast_GET_SIZE(PyObject* items) noexcept {
  return PySequence_Size(items);
}
inline PyObject* PySequence_Fast_GET_ITEM(PyObject* items, Py_ssize_t i) noexcept {
  return PyList_Check(items) ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
}

#endif
