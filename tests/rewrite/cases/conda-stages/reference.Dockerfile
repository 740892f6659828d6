# syntax=docker/dockerfile:1
FROM mambaorg/micromamba:2.0.5 AS env
USER root
ENV MAMBA_ROOT_PREFIX=/opt/conda
COPY environment.yml /tmp/environment.yml
RUN micromamba create -y -p /opt/conda -f /tmp/environment.yml \
    && rm -rf /opt/conda/pkgs && find /opt/conda -name '*.a' -delete
RUN /opt/conda/bin/pip install --no-cache-dir cupy-cuda12x==13.3.0

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends cuda-nvrtc-12-9 libcurand-12-9 \
    && rm -rf /var/lib/apt/lists/*
ARG UID=1001
RUN useradd --uid ${UID} --create-home runner
COPY --from=env /opt/conda /opt/conda
ENV PATH=/opt/conda/bin:$PATH \
    CONDA_PREFIX=/opt/conda
WORKDIR /home/runner
COPY app/ ./app/
USER runner
ENTRYPOINT ["python", "-m", "app"]
