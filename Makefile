# The commands of the project. Everything is built with one profile, and RocksDB's C++ is compiled
# once, apart from the rest (scripts/rocksdb.sh). CARGO_TARGET_DIR says where (default ./target).

export CARGO_TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
EXAMPLES := $(CARGO_TARGET_DIR)/examples
HOLDFAST := $(CARGO_TARGET_DIR)/release/holdfast
WORKSPACE := --release --workspace --locked
# The library that scripts/rocksdb.sh makes; its folder is named by the version in Cargo.lock.
ROCKSDB := $(shell awk '/^name = "librocksdb-sys"/ { getline; gsub(/[" ]/, ""); print substr($$0, 9) }' Cargo.lock)
export ROCKSDB_LIB_DIR := $(CARGO_TARGET_DIR)/rocksdb/$(ROCKSDB)
export ROCKSDB_STATIC := 1
CARGO_EXAMPLES = CARGO_TARGET_DIR=$(EXAMPLES) cargo

.PHONY: help env build examples demo test lint deny prerequisites

help:
	@echo "make demo    builds everything and shows what this is for (KEEP=1: leaves it running)"
	@echo "make test    builds everything, then format, lints and all tests"
	@echo "make build   builds the binary: $(HOLDFAST)"
	@echo "make lint    format and lints"
	@echo "make env     prints what to export so that plain cargo commands use the same RocksDB"
	@echo "make deny    licences, advisories and bans of all dependencies (needs cargo-deny)"

prerequisites:
	@scripts/prerequisites.sh
	@scripts/rocksdb.sh $(CARGO_TARGET_DIR) >/dev/null

build: prerequisites
	cargo build $(WORKSPACE)

examples: prerequisites
	$(CARGO_EXAMPLES) build --release --locked --bins --manifest-path examples/Cargo.toml

demo: build examples
	@HOLDFAST_BIN=$(HOLDFAST) KEEP=$(KEEP) $(EXAMPLES)/release/demo

lint: prerequisites
	cargo fmt --all --check
	cargo fmt --manifest-path examples/Cargo.toml --check
	cargo clippy $(WORKSPACE) --all-targets -- -D warnings
	$(CARGO_EXAMPLES) clippy --release --locked --all-targets --manifest-path examples/Cargo.toml -- -D warnings

test: build examples lint
	$(CARGO_EXAMPLES) test --release --locked --bins --manifest-path examples/Cargo.toml
	HOLDFAST_BIN=$(HOLDFAST) HOLDFAST_EXAMPLES=$(EXAMPLES)/release cargo test $(WORKSPACE)

env: prerequisites
	@echo "export CARGO_TARGET_DIR='$(CARGO_TARGET_DIR)' ROCKSDB_LIB_DIR='$(ROCKSDB_LIB_DIR)' ROCKSDB_STATIC=1"

deny:
	cargo deny --locked check
	cargo deny --locked --manifest-path examples/Cargo.toml check --config deny.toml
