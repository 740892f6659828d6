FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build

RUN apt-get update && apt-get install -y --no-install-recommends \
        build-essential git python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

RUN python3 -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
COPY requirements.txt /tmp/requirements.txt
RUN pip install -r /tmp/requirements.txt

# The extension is linked to cuBLAS
COPY csrc /src/csrc
RUN pip install /src/csrc

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends libcublas-12-9 python3 \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --system app && useradd --system --gid app --create-home app
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /app
COPY --chown=app:app models/ /app/models/
COPY --chown=app:app app /app/app
USER app
CMD ["python", "-m", "app"]
