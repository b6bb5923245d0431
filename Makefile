# make test needs Go, git, make and apt; it installs what else it uses: programs
# of Debian with apt (as root or through sudo), the rest into $(TOOLS).

TOOLS ?= $(CURDIR)/.tools
FUZZTIME ?= 5s

GOLANGCI_LINT_VERSION := v2.15.0
GOFUMPT_VERSION := v0.12.0
MULTITOOL_VERSION := 5.7.0

GO ?= go
GOLANGCI_LINT := $(TOOLS)/bin/golangci-lint
GOFUMPT := $(TOOLS)/bin/gofumpt
MULTITOOL := $(TOOLS)/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool

# A linter that was built with an older Go refuses newer code, so the stamps
# name the Go that built it.
GOVERSION := $(shell $(GO) env GOVERSION)
GOLANGCI_LINT_STAMP := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)-$(GOVERSION).stamp
GOFUMPT_STAMP := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)-$(GOVERSION).stamp
MULTITOOL_STAMP := $(TOOLS)/sarif-multitool-$(MULTITOOL_VERSION).stamp

# Packages with files that only build with the tag.
INTEGRATION = $(shell grep -rl --include='*_test.go' '^//go:build integration' . | xargs -r -n1 dirname | sort -u | grep -v '^\./scan/layers$$')

.PHONY: all build test tools unit lint generate check-generated cross fuzz integration bench clean
.NOTPARALLEL:

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/gpulint ./cmd/gpulint

test: tools lint check-generated cross unit integration

# --- what the tests use ------------------------------------------------------

tools: $(GOLANGCI_LINT_STAMP) $(GOFUMPT_STAMP) $(MULTITOOL_STAMP)
	scripts/need gcc:gcc,libc6-dev readelf:binutils dpkg-deb:dpkg unshare:util-linux \
		dockerd:docker.io containerd:containerd podman:podman skopeo:skopeo rpmbuild:rpm \
		buildah:buildah umoci:umoci

$(GOLANGCI_LINT_STAMP):
	mkdir -p $(TOOLS)
	GOBIN=$(TOOLS)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	touch $@

$(GOFUMPT_STAMP):
	mkdir -p $(TOOLS)
	GOBIN=$(TOOLS)/bin $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	touch $@

$(MULTITOOL_STAMP):
	mkdir -p $(TOOLS)
	scripts/need node:nodejs npm:npm
	npm install --prefix $(TOOLS) --no-audit --no-fund --no-save @microsoft/sarif-multitool@$(MULTITOOL_VERSION)
	chmod u+x $(MULTITOOL)
	touch $@

# --- checks ------------------------------------------------------------------

lint: $(GOLANGCI_LINT_STAMP) $(GOFUMPT_STAMP)
	@echo gofumpt -l .
	@files=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "run gofumpt -w on:"; echo "$$files"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags integration ./...
	$(GOLANGCI_LINT) run ./...

generate:
	$(GO) run ./internal/genschema
	$(GO) run ./internal/gendocs
	$(GO) run ./internal/genimages

check-generated:
	scripts/generated facts/schema $(GO) run ./internal/genschema
	scripts/generated docs/rules $(GO) run ./internal/gendocs
	scripts/generated testdata/images $(GO) run ./internal/genimages

# The laptops of those who run gpulint.
cross:
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -buildvcs=false -o /dev/null ./cmd/gpulint
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -buildvcs=false -o /dev/null ./cmd/gpulint

# --- tests -------------------------------------------------------------------

# The multitool is a .NET program and would else want ICU.
unit integration: export GPULINT_MULTITOOL := $(MULTITOOL)
unit integration: export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT := 1

unit: $(MULTITOOL_STAMP)
	CGO_ENABLED=1 $(GO) test -race ./...

integration: $(MULTITOOL_STAMP)
	$(GO) test -tags integration -timeout 20m $(INTEGRATION)
	scripts/with-mounts $(GO) test -tags integration -timeout 20m ./scan/layers

fuzz:
	FUZZTIME=$(FUZZTIME) GO=$(GO) scripts/fuzz

# Against peers and limits of the machine; no part of the tests.
bench:
	$(GO) test -tags integration -count 1 -run TestAgainstCuobjdump ./integration
	$(GO) test -run '^$$' -bench . -benchtime 5x ./bench

clean:
	rm -rf bin $(CURDIR)/.tools
	$(GO) clean -testcache
