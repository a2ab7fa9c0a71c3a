# The commands of the project. The sidecar is built with the profile `release`, which links it as one
# unit of code; all that is around it with `quick`, which links fast. RocksDB's C++ is compiled once
# for both, apart from the rest (scripts/rocksdb.sh). CARGO_TARGET_DIR says where (default ./target).

export CARGO_TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
# Services under test on an SDK that is not ours, with a lock file of their own.
FOREIGN := $(CARGO_TARGET_DIR)/foreign
HOLDFAST := $(CARGO_TARGET_DIR)/release/holdfast
QUICK := $(CARGO_TARGET_DIR)/quick
WORKSPACE := --profile quick --workspace --locked
# The library that scripts/rocksdb.sh makes; its folder is named by the version in Cargo.lock.
ROCKSDB := $(shell awk '/^name = "librocksdb-sys"/ { getline; gsub(/[" ]/, ""); print substr($$0, 9) }' Cargo.lock)
export ROCKSDB_LIB_DIR := $(CARGO_TARGET_DIR)/rocksdb/$(ROCKSDB)
export ROCKSDB_STATIC := 1
CARGO_FOREIGN = CARGO_TARGET_DIR=$(FOREIGN) cargo

.PHONY: help env build foreign examples demo bench test lint deny prerequisites test-mcp a2a-tck-agent a2a-streams

help:
	@echo "make demo    builds everything and shows what this is for (KEEP=1: leaves it running)"
	@echo "make examples  runs every example against the real sidecar"
	@echo "make bench   measures durable calls per second, end to end (docs/benchmarks.md; ARGS='--seconds 2 …')"
	@echo "make test    builds everything, then format, lints and all tests"
	@echo "make test-mcp  the conformance suite of MCP against the real sidecar (needs npm; brings its own Node)"
	@echo "make build   builds the sidecar, $(HOLDFAST), and everything around it"
	@echo "make lint    format and lints"
	@echo "make env     prints what to export so that plain cargo commands use the same RocksDB"
	@echo "make a2a-tck-agent  the agent for the test suite of A2A, on PORT (14310)"
	@echo "make a2a-streams  1,000 streams of A2A over a kill of the sidecar"
	@echo "make deny    licences, advisories and bans of all dependencies (needs cargo-deny)"

prerequisites:
	@scripts/prerequisites.sh
	@scripts/rocksdb.sh $(CARGO_TARGET_DIR) >/dev/null

build: prerequisites
	cargo build --release --locked -p holdfast
	cargo build $(WORKSPACE)

foreign: prerequisites
	$(CARGO_FOREIGN) build --release --locked --bins --manifest-path tests/foreign/Cargo.toml

examples: build
	HOLDFAST_BIN=$(HOLDFAST) cargo test --profile quick --locked -p examples

demo: build
	@HOLDFAST_BIN=$(HOLDFAST) KEEP=$(KEEP) $(QUICK)/demo

bench: build
	@HOLDFAST_BIN=$(HOLDFAST) $(QUICK)/bench --json $(CARGO_TARGET_DIR)/bench.json \
		--svg $(CARGO_TARGET_DIR)/bench.svg $(ARGS)
	@echo "written: $(CARGO_TARGET_DIR)/bench.json and bench.svg"

# The agent for the test suite of A2A, at http://127.0.0.1:$PORT, until it is interrupted.
a2a-tck-agent: build
	@PORT=$(or $(PORT),14310) scripts/a2a-tck-agent.sh $(HOLDFAST) $(QUICK)

# Streams of A2A at full size: 1,000 subscribers to 1,000 tasks over a kill of the sidecar.
a2a-streams: build
	A2A_STREAMS=1000 HOLDFAST_BIN=$(HOLDFAST) cargo test --profile quick --locked -p tests --test a2a_streams -- --nocapture

lint: prerequisites
	cargo fmt --all --check
	cargo fmt --manifest-path tests/foreign/Cargo.toml --check
	cargo clippy $(WORKSPACE) --all-targets -- -D warnings
	$(CARGO_FOREIGN) clippy --release --locked --all-targets --manifest-path tests/foreign/Cargo.toml -- -D warnings

test: build foreign lint
	HOLDFAST_BIN=$(HOLDFAST) HOLDFAST_EXAMPLES=$(FOREIGN)/release cargo test $(WORKSPACE)

test-mcp: build
	scripts/test-mcp.sh $(HOLDFAST) $(QUICK)/mcp_tools $(QUICK)/refund \
		$(CARGO_TARGET_DIR)/test-mcp

env: prerequisites
	@echo "export CARGO_TARGET_DIR='$(CARGO_TARGET_DIR)' ROCKSDB_LIB_DIR='$(ROCKSDB_LIB_DIR)' ROCKSDB_STATIC=1"

deny:
	cargo deny --locked check
	cargo deny --locked --manifest-path tests/foreign/Cargo.toml check --config $(CURDIR)/deny.toml
