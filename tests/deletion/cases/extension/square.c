#include <Python.h>

static PyObject *of(PyObject *self, PyObject *value) { return PyNumber_Multiply(value, value); }
static PyMethodDef methods[] = {{"of", of, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "square", NULL, -1, methods};

PyMODINIT_FUNC PyInit_square(void) { return PyModule_Create(&module); }
