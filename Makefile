# CGO is off except for the race detector, which needs it.
GOLANGCI_LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PLATFORMS = linux/arm darwin/arm64 windows/amd64
DEADCODE = golang.org/x/tools/cmd/deadcode@v0.52.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0
VERSION ?= dev
HELM ?= $(or $(TMPDIR),/tmp)/bridged-helm
WHATSMEOW ?=

.PHONY: screenshots build test long check lint deadcode weblint race platforms clients agents fleet interop whisper n8n proxies helm quirks vuln demo image release

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bridged ./cmd/bridged

test:
	go test ./...

# All tests in their long forms, with more rounds, callers and hostile inputs.
long:
	LONG_TESTS=1 go test -timeout 90m ./...

# All checks for a change.
check:
	bash .ci/run

# The linters of .golangci.yml. The first run builds golangci-lint.
lint:
	go run $(GOLANGCI_LINT) run ./...

# Functions that neither a program nor a test calls.
deadcode:
	@found=$$(go run $(DEADCODE) -test ./...) && { [ -z "$$found" ] || { echo "$$found"; exit 1; }; }

# The linters of the console's scripts and of openapi.yaml. Needs npm and its registry.
weblint:
	bash .ci/weblint/run

# Needs a C compiler. .ci/races lists whatsmeow's own data races.
race:
	CGO_ENABLED=1 GORACE=suppressions=$(CURDIR)/.ci/races go test -race -timeout 60m ./...

# Builds all packages for platforms that differ in word size and system.
platforms:
	for platform in $(PLATFORMS); do \
		echo "== $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build ./... || exit; \
	done

# Generates clients from openapi.yaml and compiles them. Needs the Go module
# proxy; without npm the TypeScript client is skipped, without Java the Python
# one, too.
clients:
	bash .ci/clients/run

# Connects an independent client, Baileys, to bridged over the simulated network, and
# other bridges' clients to the demo's compatibility APIs. Needs npm and its registry; without Node it
# is skipped.
interop:
	bash interop/run
	bash interop/compat/run

# Has whisper.cpp's own server transcribe voice notes. Needs Node, a C++ compiler, ffmpeg and some
# minutes; without one of them it is skipped.
whisper:
	bash interop/whisper/run

# Builds n8n-nodes-bridged and runs n8n itself with it against the demo, and with its node
# for Evolution API against the compatibility API. Needs Node, a C++ compiler and Linux on x64, 3 GB and
# some minutes; elsewhere it is skipped. N8N_DIR keeps what was installed.
n8n:
	bash .ci/n8n/run

# Runs Caddy with deploy/caddy/Caddyfile before a bridge, and with deploy/accounts/Caddyfile before
# three. Needs Debian's caddy, and its
# chromium-headless-shell for the console.
proxies:
	go test ./internal/e2e/operations -count=1 -v -run TestProxies

# Talks to the demo as an agent with the protocol's TypeScript SDKs and mcp-remote, also with OAuth,
# and runs the protocol's conformance suite. Needs Node.
agents:
	bash .ci/agents/run

# Lints the Helm chart and compares it with deploy/kubernetes. The first run builds helm.
helm:
	mkdir -p $(HELM) && GOBIN=$(HELM) go install helm.sh/helm/v3/cmd/helm@v3.22.0
	PATH=$(HELM):$$PATH go test ./internal/e2e/operations -count=1 -v -run TestHelm

# Reads the demo's events from NATS with its JavaScript client. Needs Node.
fleet:
	bash .ci/fleet/run

# Tests the assumptions about whatsmeow's inside against another version:
# make quirks WHATSMEOW=v0.0.0-20260925162019-b3832c2bd1d1
quirks:
	bash .ci/quirks $(WHATSMEOW)

# Needs the vulnerability database, which is online.
vuln:
	go run $(GOVULNCHECK) ./...

demo:
	go run ./cmd/bridged demo

# Takes screenshots of the console's pages, and the two of README. Needs Debian's
# chromium-headless-shell or chromium, fonts (fonts-noto-core, fonts-noto-color-emoji), and pngquant.
screenshots:
	go run ./internal/e2e/screenshots -to screenshots
	pngquant --force --speed 1 --strip --output docs/console-chat.png screenshots/group-desk-light.png
	pngquant --force --speed 1 --strip --output docs/console-overview.png screenshots/overview-desk-dark.png

image:
	docker build --build-arg VERSION=$(VERSION) -t bridged .

# Builds for every platform, with checksums, in dist: make release VERSION=1.2.3
release:
	bash .ci/release $(VERSION)
