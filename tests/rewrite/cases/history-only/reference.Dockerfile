FROM nvidia/cuda:12.9.1-base-ubuntu22.04

ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
    python3 python3-pip wget \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /workspace
COPY requirements.txt .
RUN pip3 install --no-cache-dir -r requirements.txt
RUN wget --version >/dev/null && mkdir -p /workspace/outputs

COPY weights /workspace/weights
COPY predict.py /workspace/
ENV MODEL_PATH=/workspace/weights/model.bin
EXPOSE 5000
ENTRYPOINT ["python3", "predict.py"]
CMD ["--steps", "4"]
