# syntax=docker/dockerfile:1
FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build
WORKDIR /src
COPY rng.c .
RUN gcc -O2 -o /rng rng.c -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcurand -lcudart

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurand-12-9=10.3.10.19-1 \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid app --no-create-home app
COPY --from=build /rng /usr/local/bin/rng
COPY --chown=app:app tables/ /srv/tables/
WORKDIR /srv
USER app
CMD ["rng"]
