# Both base images are pinned by digest, for all platforms. The newest digest of a tag:
#   docker buildx imagetools inspect gcr.io/distroless/static-debian12:nonroot
# They are build arguments, so that you can use a mirror:
#   docker build --build-arg BUILD_IMAGE=registry.example/golang:1.26 -t bridged .
# Go compiles for the other platform by itself, so that no emulator is needed:
#   docker buildx build --platform linux/amd64,linux/arm64 -t bridged .
# With ffmpeg, which converts sounds and videos. Another platform then needs an
# emulator:
#   docker build --target ffmpeg -t bridged:ffmpeg .
ARG BUILD_IMAGE=docker.io/library/golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG RUNTIME_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
# BuildKit sets the platform of the image.
ARG TARGETOS
ARG TARGETARCH
# Without C the binary is static and runs on an image without a libc.
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/bridged ./cmd/bridged \
    && mkdir /out/data

FROM ${RUNTIME_IMAGE} AS bridged
# The root certificates for WhatsApp's servers and the hosts of send-media. They come
# from the build image, so that the runtime image may be scratch.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /usr/share/doc/bridged/LICENSE
COPY --from=build /out/bridged /usr/local/bin/bridged
# A new volume gets the owner of the directory under it; bridged makes it private.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# TMPDIR is on the volume, because the root file system is meant to be read-only.
ENV LISTEN_ADDR=0.0.0.0:8080 DATA_DIR=/data TMPDIR=/data/tmp
EXPOSE 8080
VOLUME ["/data"]
LABEL org.opencontainers.image.title="bridged" \
      org.opencontainers.image.description="One WhatsApp account as an HTTP/JSON interface" \
      org.opencontainers.image.licenses="GPL-3.0-or-later"
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 \
    CMD ["/usr/local/bin/bridged", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/bridged"]
CMD ["serve"]

# Only Debian's ffmpeg and its libraries.
FROM ${BUILD_IMAGE} AS ffmpeg-files
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ffmpeg \
    && mkdir /out && cp --parents -L /usr/bin/ffmpeg $(ldd /usr/bin/ffmpeg | grep -o '/[^ )]*') /out

FROM bridged AS ffmpeg
COPY --from=ffmpeg-files /out /
ENV FFMPEG=/usr/bin/ffmpeg

# The target by default.
FROM bridged
