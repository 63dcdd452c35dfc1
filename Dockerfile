# syntax=docker/dockerfile:1
# Base images are build arguments, so that a mirror or a pinned digest can be used.
ARG BUILD_IMAGE=docker.io/library/golang:1.26-bookworm
ARG RUNTIME_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ENV CGO_ENABLED=0
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/bridged ./cmd/bridged \
 && mkdir -p /out/data && chmod 0700 /out/data

FROM ${RUNTIME_IMAGE}
# CA roots for WhatsApp's socket and CDN and for send-media, also on scratch.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/bridged /usr/local/bin/bridged
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV LISTEN_ADDR=0.0.0.0:8080 DATA_DIR=/data
EXPOSE 8080
VOLUME ["/data"]
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 CMD ["/usr/local/bin/bridged", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/bridged"]
CMD ["serve"]
