# ESI's images, each a target: testbed, batchjob, scheduling, colocation (the example scheduler), pause.
#
#     docker build --target testbed -t registry.example/esi-testbed:0.2.0 --build-arg REVISION="$(git rev-parse HEAD)" .
#
# BASE is where ESI is compiled and where the images' libraries come from; pin it by digest for a release.
# No layer of it is in an image, so there is no shell and no package manager: only the program, the files of
# Debian packages that it loads, their records for scanners (var/lib/dpkg/status.d) and the bill of materials.
# `make images` makes the same images without a container engine.
ARG BASE=debian:12-slim
ARG VERSION=0.2.0

FROM ${BASE} AS tools
WORKDIR /src
COPY scripts/setup.sh scripts/
COPY scripts/images/debian-packages.txt scripts/images/
RUN scripts/setup.sh scripts/images/debian-packages.txt

FROM tools AS compiled
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY integration-tests/fuzz integration-tests/fuzz
COPY integration-tests/simulation integration-tests/simulation
COPY common common
COPY operators operators
RUN cmake --preset release -DESI_BENCHMARKS=OFF && \
    cmake --build --preset release -j "$(nproc)" --target esi-testbed esi-batchjob esi-scheduling

FROM tools AS sources
COPY CMakeLists.txt LICENSE ./
COPY images images
COPY scripts/images scripts/images
COPY docs/openapi.json docs/openapi.json
COPY examples/clients/python examples/clients/python
COPY examples/schedulers/colocation examples/schedulers/colocation
ARG SOURCE_DATE_EPOCH=0

FROM sources AS operators
COPY --from=compiled /src/build/release/operators/esi-testbed /src/build/release/operators/esi-batchjob \
    /src/build/release/operators/esi-scheduling build/release/operators/
RUN scripts/images/stage.py /out esi-testbed esi-batchjob esi-scheduling

FROM sources AS others
RUN scripts/images/stage.py /out esi-colocation esi-pause

FROM scratch AS image
ARG BASE
ARG VERSION
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${BASE}"
ENV PATH=/usr/local/bin:/usr/bin
USER 65532:65532

FROM image AS pause
COPY --from=others /out/esi-pause/program/ /
LABEL org.opencontainers.image.title="esi-pause" \
      org.opencontainers.image.version="1" \
      org.opencontainers.image.description="The program of ESI's ghost pods: it waits for SIGTERM"
USER 65535:65535
ENTRYPOINT ["/pause"]

FROM image AS colocation
COPY --from=others /out/esi-colocation/runtime/ /
COPY --from=others /out/esi-colocation/program/ /
LABEL org.opencontainers.image.title="esi-colocation" \
      org.opencontainers.image.description="ESI's example scheduler: measures jobs in pairs, then places each beside its best partner"
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
ENTRYPOINT ["/usr/local/bin/esi-colocation"]

FROM image AS batchjob
COPY --from=operators /out/esi-batchjob/runtime/ /
COPY --from=operators /out/esi-batchjob/program/ /
LABEL org.opencontainers.image.title="esi-batchjob" \
      org.opencontainers.image.description="ESI's BatchJob operator: Spark and Flink jobs that wait, and are run in their slots"
EXPOSE 8081
ENTRYPOINT ["/usr/local/bin/esi-batchjob"]

FROM image AS scheduling
COPY --from=operators /out/esi-scheduling/runtime/ /
COPY --from=operators /out/esi-scheduling/program/ /
LABEL org.opencontainers.image.title="esi-scheduling" \
      org.opencontainers.image.description="ESI's Scheduling operator: decides which jobs take which slots of a Testbed"
EXPOSE 8082
ENTRYPOINT ["/usr/local/bin/esi-scheduling"]

FROM image AS testbed
COPY --from=operators /out/esi-testbed/runtime/ /
COPY --from=operators /out/esi-testbed/program/ /
LABEL org.opencontainers.image.title="esi-testbed" \
      org.opencontainers.image.description="ESI's Testbed operator: numbered slots on nodes, each free one held by a ghost pod"
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/esi-testbed"]
