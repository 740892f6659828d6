"""Runs as a user without rights; needs no GPU."""

import getpass
import os

import click
import fastgemm

model = os.path.join(os.path.dirname(os.path.dirname(__file__)), "models", "model.bin")
click.echo(f"cublas {fastgemm.version()}: {fastgemm.device()}")
click.echo(f"{getpass.getuser()}: model of {os.path.getsize(model)} bytes")
