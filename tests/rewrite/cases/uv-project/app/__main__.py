"""Runs in the environment that uv made; needs no GPU."""

import sys

import click
import torch

click.echo(f"{sys.prefix}: torch {torch.__version__}, {torch.cuda.error()}")
