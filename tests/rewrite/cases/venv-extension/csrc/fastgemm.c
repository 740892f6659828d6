/* An extension module that is linked to cuBLAS; needs no GPU. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

static PyObject *version(PyObject *self, PyObject *none) {
    int major = 0, minor = 0;
    cublasGetProperty(MAJOR_VERSION, &major);
    cublasGetProperty(MINOR_VERSION, &minor);
    return PyUnicode_FromFormat("%d.%d", major, minor);
}

static PyObject *device(PyObject *self, PyObject *none) {
    int count = 0;
    return PyUnicode_FromString(cudaGetErrorName(cudaGetDeviceCount(&count)));
}

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, NULL}, {"device", device, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fastgemm", NULL, -1, methods};

PyMODINIT_FUNC PyInit_fastgemm(void) { return PyModule_Create(&module); }
