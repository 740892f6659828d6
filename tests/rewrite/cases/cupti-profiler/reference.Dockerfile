FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build
WORKDIR /opt/tracer
COPY tracer/ .
RUN make && make clean-objects

FROM nvidia/cuda:12.9.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y --no-install-recommends \
        cuda-cupti-12-9 \
        python3 \
    && rm -rf /var/lib/apt/lists/*
# CUPTI is not on the loader's path
RUN echo /usr/local/cuda/extras/CUPTI/lib64 > /etc/ld.so.conf.d/cupti.conf && ldconfig
WORKDIR /opt/tracer
COPY --from=build /opt/tracer/libtracer.so /opt/tracer/
COPY trace.py /opt/tracer/
ENV TRACE_BUFFER=64
VOLUME /traces
CMD ["python3", "/opt/tracer/trace.py"]
