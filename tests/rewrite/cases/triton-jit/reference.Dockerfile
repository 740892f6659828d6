FROM nvidia/cuda:12.9.1-base-ubuntu22.04

ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
    && apt-get install -y --no-install-recommends build-essential cuda-nvcc-12-9 python3 python3-dev python3-pip \
    && rm -rf /var/lib/apt/lists/*

RUN pip3 install --no-cache-dir torch==2.9.1 triton==3.5.1

# Triton compiles launchers with gcc, and kernels with the toolkit's ptxas
ENV CC=gcc \
    TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas \
    TRITON_CACHE_DIR=/tmp/triton

WORKDIR /app
COPY kernels/ kernels/
COPY main.py .

ENTRYPOINT ["python3", "main.py"]
