from setuptools import Extension, setup

setup(name="square", version="1.0", ext_modules=[Extension("square", ["square.c"])])
