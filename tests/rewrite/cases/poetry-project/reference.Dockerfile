FROM nvidia/cuda:12.9.1-base-ubuntu22.04

ENV POETRY_VERSION=2.1.4 \
    POETRY_NO_INTERACTION=1 \
    POETRY_VIRTUALENVS_IN_PROJECT=true

RUN apt-get update && apt-get install -y --no-install-recommends \
    python3 python3-pip python3-venv cuda-nvrtc-12-9 libcurand-12-9 \
    && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir "poetry==$POETRY_VERSION"

WORKDIR /app
COPY pyproject.toml poetry.lock ./
RUN poetry install --only main --no-root --no-cache

COPY . .
ENV PATH="/app/.venv/bin:$PATH"
CMD ["python", "-m", "worker"]
