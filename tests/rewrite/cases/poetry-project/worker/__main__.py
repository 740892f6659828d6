"""Runs in the environment that Poetry made, with a wheel that uses the toolkit's libraries; needs no GPU."""

import sys

import click
import cupy

click.echo(f"{sys.prefix}: cupy {cupy.__version__}, curand {cupy.curand_version()}, nvrtc {cupy.nvrtc_version()}")
