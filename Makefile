# Each target does its own set-up: scripts/setup.sh installs what Debian has and says what else is
# missing. `make` alone lists the targets.

CARGO ?= cargo
PREFIX ?= $(HOME)/.cargo
export PATH := $(PATH):$(HOME)/.cargo/bin:$(CURDIR)/target/release:$(CURDIR)/target/tools/bin

TIEBREAK := target/release/tiebreak
TEXT := target/tiebreak/text-4MB
AA := target/tiebreak/aa.json

.PHONY: help run test full aa scopes placements units studies elsewhere machine peers \
        load-cost load-peers load-truth gate truth bench shares rounds sooner barrierd install \
        build setup tidy lint

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: build ## race eighteen ways to read small numbers, next to what was published: four minutes
	@scripts/setup.sh functions
	$(TIEBREAK) study run parse-uint8 --budget 60s; [ $$? -le 2 ]

# Tests of commands wait more than they compute: two a CPU end sooner.
test: export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(nproc))))
test: setup tidy lint ## every check that a change must pass
	@scripts/setup.sh test load
	$(CARGO) test --workspace --locked
	@scripts/sync.sh short loom static sanitize
	@scripts/simd.sh neon
	@if [ -x scripts/fuzz.sh ]; then scripts/setup.sh fuzz && scripts/fuzz.sh 5; fi

full: test ## the long suites too: error rates simulated, every answer of every study: hours
	@scripts/setup.sh studies peers
	TIEBREAK_FULL=1 PROPTEST_RNG_SEED=$$(date +%s) \
	    $(CARGO) test --release --workspace --locked -- --include-ignored
	scripts/sync.sh full
	scripts/simd.sh miri
	@$(MAKE) --no-print-directory build
	for study in studies/*/study.toml; do \
	    $(TIEBREAK) study verify "$${study%/*}" --full || exit 1; \
	done
	/usr/bin/python3 -B bench/scopes/scopes.py --full

# The program's own work by a relative path, because the result, which is kept, names it.
RUN_AA = $(TIEBREAK) aa '$(TIEBREAK) __work' --json $(AA) $(ARGS)
aa: ARGS ?= --budget 5min
aa: build scopes ## this machine against itself: programs, and functions at each scope: 20 minutes
	@mkdir -p target/tiebreak docs/measured
	$(info $(RUN_AA))
	@$(RUN_AA); status=$$?; \
	[ $$status -gt 2 ] || { mv $(AA) docs/measured/aa.json && $(CARGO) xtask splice make aa; } \
	    || exit 1; exit $$status

scopes: build ## the same code against itself, at each scope: 15 minutes
	@scripts/setup.sh peers
	/usr/bin/python3 -B bench/scopes/scopes.py $(ARGS)

placements: build ## placements by us and by the linker: can their times be told apart: 20 minutes
	@scripts/setup.sh studies peers
	/usr/bin/python3 -B bench/placements/law.py $(ARGS)

units: build ## units a second of each study, next to another program's on request: 10 minutes
	@scripts/setup.sh studies
	/usr/bin/python3 -B bench/units/units.py $(ARGS)

# One at a time, each with the budget of its study. The study barriers asks the daemon barrierd,
# which is started for the while where that is allowed and none is there.
STUDIES ?= $(notdir $(patsubst %/,%,$(wildcard studies/*/)))
BARRIERD := target/release/barrierd
studies: build ## every study's table, measured and written into its README: two to three hours
	@scripts/setup.sh studies
	$(CARGO) build --release --package tiebreak-barrierd --locked
	export PATH="$$PATH:$$PWD/target/release"; \
	if ! $(BARRIERD) status >/dev/null 2>&1 && $(BARRIERD) check >/dev/null 2>&1; then \
	    $(BARRIERD) run & daemon=$$!; trap 'kill $$daemon' EXIT; sleep 2; \
	fi; \
	for study in $(STUDIES); do \
	    scripts/study.sh $$study || exit 1; \
	done
	$(CARGO) xtask splice make studies
	$(CARGO) xtask splice 'make studies # in short'

elsewhere: ## what 'make studies' measured on another machine, next to ours: FROM=its docs/measured
	$(CARGO) xtask elsewhere $(FROM)

machine: build ## the machine's probes next to other programs that measure the same: 25 minutes
	@scripts/setup.sh peers
	/usr/bin/python3 -B bench/machine/cores.py
	/usr/bin/python3 -B bench/machine/bandwidth.py
	$(CARGO) xtask splice make machine

peers: build ## hyperfine and us on the same programs in the same minutes: about 10 minutes
	@scripts/setup.sh peers
	/usr/bin/python3 -B bench/peers/peers.py $(ARGS)

load-peers: build ## what generators of load say of a server that stands still at times: 8 minutes
	@scripts/setup.sh load-peers
	/usr/bin/python3 -B bench/load/peers.py $(ARGS)

load-cost: build ## what a message costs the generator, ours and others, by CPU time: 8 minutes
	@scripts/setup.sh load load-peers
	/usr/bin/python3 -B bench/load/cost.py $(ARGS)

load-truth: build ## servers of a known rate, and one against itself, beside a neighbour: 30 minutes
	@scripts/setup.sh load
	/usr/bin/python3 -B bench/load/truth.py $(ARGS)

gate: build ## 100 pull requests, 50 of them 3% slower, gated by us and by stored means: 15 minutes
	@scripts/setup.sh gate
	/usr/bin/python3 -B bench/gate/gate.py $(ARGS)

truth: build ## false verdicts in all kinds of noise, in virtual time and on the real clock: 2 hours
	@scripts/setup.sh peers
	@mkdir -p target/tiebreak
	$(CARGO) run --release --quiet --locked --package tiebreak-lab --example truth \
	    > target/tiebreak/truth.json
	@mv target/tiebreak/truth.json docs/measured/truth.json
	/usr/bin/python3 -B bench/truth/truth.py $(ARGS)

bench: build ## what tiebreak itself costs, in time and memory: about 5 minutes
	@scripts/setup.sh peers
	/usr/bin/python3 -B bench/peers/own.py $(ARGS)
	$(CARGO) run --release --quiet --locked --package tiebreak-measure --example worker_overhead

shares: setup ## success rates simulated, next to the classic driver; bursts: 10 minutes
	@mkdir -p target/tiebreak
	$(CARGO) run --release --quiet --locked --package tiebreak-stats --example shares -- $(ARGS) \
	    > target/tiebreak/shares.json
	@mv target/tiebreak/shares.json docs/measured/shares.json
	$(CARGO) xtask splice make shares

rounds: setup ## rounds to a verdict, and errors, in made and in recorded noise: 5 minutes
	@mkdir -p target/tiebreak
	$(CARGO) build --release --quiet --locked --package tiebreak-stats --example rounds
	example=target/release/examples/rounds; \
	    kept=target/tiebreak/rounds-$$(sha256sum < $$example | cut -c1-16).jsonl; \
	    $$example --kept $$kept $(ARGS) > target/tiebreak/rounds.json
	@mv target/tiebreak/rounds.json docs/measured/rounds.json
	$(CARGO) xtask splice make rounds

sooner: build ## what --adjust and 'by run time' gain on noisy processes of 3 ms: about 30 minutes
	@scripts/setup.sh peers
	/usr/bin/python3 -B bench/sooner/sooner.py $(ARGS)

barrierd: setup ## build the daemon that watches interrupts, and ask what it could do here
	$(CARGO) build --release --package tiebreak-barrierd --locked
	@target/release/barrierd check; [ $$? -le 2 ]
	@echo 'Start it with: sudo target/release/barrierd run'

install: setup ## put tiebreak into PREFIX/bin, by default ~/.cargo/bin
	$(CARGO) install --path lab/cli --locked --root $(PREFIX)
	@echo 'For completions in the shell: tiebreak completions --help'

build: setup
	$(CARGO) build --release --package tiebreak --locked

setup:
	@scripts/setup.sh build

tidy: setup
	$(CARGO) xtask tidy

# Rust's own tools for style are checked where they are installed.
lint: setup
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; \
	else echo 'lint: no rustfmt here, style is not checked (rustup component add rustfmt)'; fi
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	    $(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings; \
	else echo 'lint: no clippy here, lints are not checked (rustup component add clippy)'; fi
