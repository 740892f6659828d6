FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build

ENV DEBIAN_FRONTEND=noninteractive \
    TZ=Etc/UTC

# Build tools
RUN apt-get update && apt-get install -y \
    build-essential \
    cmake \
    git \
    libjansson-dev \
    pkg-config

WORKDIR /src
COPY . .
RUN cmake . && make -j4 && make install

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
ENV DEBIAN_FRONTEND=noninteractive \
    TZ=Etc/UTC
RUN apt-get update && apt-get install -y --no-install-recommends libcublas-12-9 libjansson4 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/gemm /usr/local/bin/
COPY --from=build /usr/local/share/gemm /usr/local/share/gemm
WORKDIR /data
EXPOSE 8080
CMD ["gemm", "--config", "/usr/local/share/gemm/gemm.json"]
