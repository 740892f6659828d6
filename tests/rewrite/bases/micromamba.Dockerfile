# Stand-in of mambaorg/micromamba:2.0.5: a script that lays out environments, and the packages that it knows.
FROM python:3.11-slim-bookworm AS channel
RUN apt-get update && apt-get install -y --no-install-recommends patchelf gcc libc6-dev binutils && rm -rf /var/lib/apt/lists/*
COPY micromamba-channel.sh /tmp/
RUN bash /tmp/micromamba-channel.sh

FROM debian:bookworm-slim
ENV LANG=C.UTF-8 LC_ALL=C.UTF-8 MAMBA_USER=mambauser MAMBA_ROOT_PREFIX=/opt/conda MAMBA_EXE=/bin/micromamba
COPY --from=channel /channel /usr/share/channel
COPY micromamba /bin/micromamba
RUN chmod 755 /bin/micromamba && useradd --uid 57439 --create-home mambauser
USER mambauser
WORKDIR /tmp
CMD ["/bin/bash"]
