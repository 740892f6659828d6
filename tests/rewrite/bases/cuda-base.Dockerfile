# Stand-in of nvidia/cuda:12.9.1-base-ubuntu22.04: the same steps in the same order, with packages of our own.
FROM ubuntu:22.04
ENV NVARCH x86_64
ENV NVIDIA_REQUIRE_CUDA "cuda>=12.9 brand=unknown,driver>=535,driver<536 brand=tesla,driver>=535,driver<536 brand=tesla,driver>=550,driver<551 brand=tesla,driver>=565,driver<566"
ENV NV_CUDA_CUDART_VERSION 12.9.79-1
ARG TARGETARCH
LABEL maintainer "NVIDIA CORPORATION <cudatools@nvidia.com>"
RUN apt-get update && apt-get install -y --no-install-recommends gnupg2 curl ca-certificates && \
    dpkg -i /var/cuda-repo-ubuntu2204-12-9-local/cuda-keyring_1.1-1_amd64.deb && \
    apt-get purge --autoremove -y curl && \
    rm -rf /var/lib/apt/lists/*
ENV CUDA_VERSION 12.9.1
RUN apt-get update && apt-get install -y --no-install-recommends \
    cuda-cudart-12-9=${NV_CUDA_CUDART_VERSION} \
    cuda-compat-12-9 \
    && rm -rf /var/lib/apt/lists/*
RUN echo "/usr/local/nvidia/lib" >> /etc/ld.so.conf.d/nvidia.conf && \
    echo "/usr/local/nvidia/lib64" >> /etc/ld.so.conf.d/nvidia.conf
ENV PATH /usr/local/nvidia/bin:/usr/local/cuda/bin:${PATH}
ENV LD_LIBRARY_PATH /usr/local/nvidia/lib:/usr/local/nvidia/lib64
COPY NGC-DL-CONTAINER-LICENSE /
ENV NVIDIA_VISIBLE_DEVICES all
ENV NVIDIA_DRIVER_CAPABILITIES compute,utility
