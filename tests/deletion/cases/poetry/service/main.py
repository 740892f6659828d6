"""A service that answers once."""
import fastapi
import jinja2
import numpy


def main():
    app = fastapi.FastAPI()
    app.get("/")(lambda: {})
    print(sorted(app.openapi()["paths"]), jinja2.Template("{{ a }}").render(a=1), numpy.arange(3).sum())
