FROM debian:bookworm-slim AS web
WORKDIR /web
COPY web/ .
RUN sh build.sh

FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS builder
RUN apt-get update && apt-get install -y cmake
WORKDIR /src
COPY engine/ .
RUN cmake -B build -DCMAKE_INSTALL_PREFIX=/opt/engine && cmake --build build && cmake --install build

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
LABEL org.opencontainers.image.title="engine"
RUN apt-get update && apt-get install -y --no-install-recommends libcurand-12-9 libgomp1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=builder /opt/engine /opt/engine
COPY --from=web /web/dist /opt/engine/share/web
COPY config/ /etc/engine/
ENV PATH=/opt/engine/bin:$PATH
EXPOSE 9000
STOPSIGNAL SIGINT
CMD ["engine", "/etc/engine/engine.conf"]
