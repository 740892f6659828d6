FROM nvidia/cuda:12.9.1-base-ubuntu22.04

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

RUN apt-get update && \
    apt-get install -y --no-install-recommends python3 python3-pip && \
    rm -rf /var/lib/apt/lists/*

WORKDIR /srv

# Dependencies first, for the cache
COPY requirements.txt .
RUN pip3 install --no-cache-dir -r requirements.txt

COPY weights/ weights/
COPY app/ app/

EXPOSE 8000
CMD ["python3", "-m", "app", "--weights", "weights/model.safetensors"]
