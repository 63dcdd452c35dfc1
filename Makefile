# CGO stays off everywhere but under the race detector, which needs it.
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0
VERSION ?= dev

.PHONY: build test check race vuln demo image

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bridged ./cmd/bridged

test:
	go test ./...

# What a change has to pass.
check:
	bash .ci/run

# Needs a C compiler.
race:
	CGO_ENABLED=1 go test -race ./...

# Needs the vulnerability database, which is online.
vuln:
	go run $(GOVULNCHECK) ./...

demo:
	go run ./cmd/bridged demo

image:
	docker build --build-arg VERSION=$(VERSION) -t bridged .
