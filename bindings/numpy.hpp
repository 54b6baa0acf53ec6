// NumPy's C interface, for the places where an array more or less costs more than the work on it.
// module.cpp imports it once, for all.
#pragma once

#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL tfreel_numpy
#ifndef TFREEL_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
