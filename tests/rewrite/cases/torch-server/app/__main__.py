"""Loads weights and says what torch runs with; needs no GPU."""

import json
import os

import click
import torch


@click.command()
@click.option("--weights", required=True)
def main(weights):
    answer = {
        "torch": torch.__version__,
        "cuda": torch.cuda.is_available(),
        "error": torch.cuda.error(),
        "curand": torch.version.curand,
        "weights": os.path.getsize(weights),
    }
    click.echo(json.dumps(answer))


main()
