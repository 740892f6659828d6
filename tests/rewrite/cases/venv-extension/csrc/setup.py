from setuptools import Extension, setup

CUDA = "/usr/local/cuda"

setup(
    packages=[],
    ext_modules=[
        Extension(
            "fastgemm",
            ["fastgemm.c"],
            include_dirs=[f"{CUDA}/include"],
            library_dirs=[f"{CUDA}/lib64"],
            libraries=["cublas", "cudart"],
        )
    ],
)
