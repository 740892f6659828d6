FROM nvidia/cuda:12.9.1-base-ubuntu22.04 AS build
COPY --from=ghcr.io/astral-sh/uv:0.9.9 /uv /uvx /bin/
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
ENV UV_COMPILE_BYTECODE=1 \
    UV_PYTHON_DOWNLOADS=never
WORKDIR /app
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/.venv /app/.venv
COPY app/ ./app/
ENV PATH=/app/.venv/bin:$PATH
EXPOSE 8000
CMD ["python", "-m", "app"]
