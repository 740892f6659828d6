# Stand-in of ghcr.io/astral-sh/uv:0.9.9: the program is the real one, out of its wheel.
FROM scratch
COPY uv uvx /
WORKDIR /io
ENTRYPOINT ["/uv"]
