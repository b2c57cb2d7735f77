# What to do with Ropewalk. `make` alone lists it.
#
# Every target leaves what it made, and a second call builds only what its
# sources have changed since.

.DEFAULT_GOAL := help
.PHONY: help setup programs wheel sdist wheel-test models preload demo encoded-video gateway gateway-demo tunnel-demo video-demo package openwrt package-test build build-tests test test-rust test-python lint lint-rust lint-python docs docs-site architecture rustdoc msrv deny publish-check release reference kernel goodput thin-stream random-scenarios worlds hulls reproductions gallery faults real-faults bench bench-studies instructions mutants clean tools capture-tools network-tools encoder browser static-compiler

VENV := .venv
BIN := $(VENV)/bin
MADE := $(VENV)/made
CARGO ?= cargo
PIP := $(BIN)/python -m pip --disable-pip-version-check

# The first Python of 3.11 or later.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

# One interpreter for all of cargo's calls, so that none rebuilds the binding for another's.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

RUST_SOURCES := Cargo.toml Cargo.lock \
	$(shell find crates \( -name '*.rs' -o -name Cargo.toml \) ! -path '*/tests/*' ! -path '*/fuzz/*')
# Gateway and testbed are programs of their own.
PROGRAM_SOURCES := crates/gateway/% crates/testbed/% crates/preload/% crates/preload-protocol/%
# One of them; the others are built with it.
PROGRAM := $(or $(CARGO_TARGET_DIR),target)/setup/ropewalk-gateway

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Programs that have been built are kept up to date.
setup: $(MADE)/package $(wildcard $(PROGRAM)) ## make .venv/bin/ropewalk, optimised

programs: $(PROGRAM) ## build gateway and testbed for .venv/bin/ropewalk, which else builds them when first used

demo: setup ## simulate eight cellular links; print a table and where the picture is
	@$(BIN)/ropewalk simulate scenarios/trains/eight-links.toml --out results/eight-links

# Scaled to the rate that the scenario has.
FRAMES = $(CURDIR)/results/encoded-video/frames.txt
encoded-video: setup encoder ## encode a short video with ffmpeg; simulate it, frame by frame, over Wi-Fi and LTE
	@if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then \
		mkdir -p results/encoded-video && scenarios/video/encode.sh "$(FRAMES)" \
		&& $(BIN)/ropewalk simulate scenarios/video/wifi-lte.toml --set "traffic.trace=$(FRAMES)" \
			--out results/encoded-video/run; \
	fi

wheel: sdist ## build a wheel, optimised by a profile of runs, and an sdist into target/wheels
	@rm -f target/wheels/*.whl
	PYTHON=$(BIN)/python packaging/wheel.sh
	@ls -l target/wheels

sdist: $(MADE)/venv ## build an sdist into target/wheels, of which pip makes a wheel where cargo is
	@rm -f target/wheels/*.tar.gz
	$(BIN)/python packaging/backend.py sdist --out target/wheels

wheel-test: ## install the wheel in fresh environments elsewhere; run demo, gateway and its own tests
	@test -n "$$(ls target/wheels/*.whl 2>/dev/null)" || $(MAKE) --no-print-directory wheel
	PYTHON=$(PYTHON) packaging/demo/installed.sh target/wheels/*.whl

# TARGET names another kind of machine, as rustup does.
TARGET ?=
gateway: tools ## build the gateway's binary, and exec's library, without Python; TARGET= for another machine
	$(CARGO) build --release --locked -p ropewalk-gateway $(if $(findstring musl,$(TARGET)),,-p ropewalk-preload) \
		$(if $(TARGET),--target $(TARGET))
	@echo "$${CARGO_TARGET_DIR:-target}/$(if $(TARGET),$(TARGET)/)release/ropewalk-gateway"

# ARCHITECTURES= names others than x86_64 and aarch64.
ARCHITECTURES ?= x86_64 aarch64
package: tools static-compiler ## build the gateway's static binaries and Debian packages, as far as this machine can
	ARCHITECTURES="$(ARCHITECTURES)" packaging/package.sh

# OpenWrt's names of architectures; a binary for aarch64 suits all of that kind.
OPENWRT_ARCHITECTURES ?= x86_64 aarch64_generic aarch64_cortex-a53 aarch64_cortex-a72 aarch64_cortex-a76
openwrt: ## make packages for OpenWrt (.ipk) in target/openwrt, from the static binaries of `make package`
	@for name in $(OPENWRT_ARCHITECTURES); do \
		case $$name in x86_64) kind=x86_64 ;; *) kind=$${name%%_*} ;; esac; \
		binary=target/$$kind-unknown-linux-musl/release/ropewalk-gateway; \
		test -x $$binary || $(MAKE) --no-print-directory package ARCHITECTURES=$$kind || exit 1; \
		packaging/openwrt/ipk.sh $$binary $$name target/openwrt || exit 1; \
	done

package-test: ## install the package at both ends of two links, set it up, and use it, as root
	@command -v nft >/dev/null || $(call apt,nftables) || true
	@test -n "$$(ls target/package/*_$$(dpkg --print-architecture).deb 2>/dev/null)" \
		|| $(MAKE) --no-print-directory package ARCHITECTURES="$$(uname -m)"
	packaging/demo/install.sh target/package/*_$$(dpkg --print-architecture).deb

network-test: $(MADE)/quic ## use a network behind the package's client, as root: browser, apt, git, ssh, QUIC; what leaks?
	@command -v nghttpd >/dev/null || $(call apt,chromium nftables nghttp2-server iperf3 openssh-server tcpdump dnsutils dpkg-dev) || true
	@test -n "$$(ls target/package/*_$$(dpkg --print-architecture).deb 2>/dev/null)" \
		|| $(MAKE) --no-print-directory package ARCHITECTURES="$$(uname -m)"
	packaging/demo/network.sh target/package/*_$$(dpkg --print-architecture).deb $(CURDIR)/$(BIN)/python

# Each is a script that runs at one end of the links of a scenario.
SCENARIO := scenarios/start/two-links.toml
gateway-demo: DEMO := download
gateway-demo: ## relay and proxy over two emulated links; a download through them with curl
tunnel-demo: DEMO := tunnel
tunnel-demo: ## a tunnel over two emulated links; a download through it with curl
video-demo: DEMO := video
video-demo: SCENARIO := scenarios/video/wifi-lte.toml
video-demo: ## a video beside a download, through the gateway over Wi-Fi and LTE: alike, and in classes
gateway-demo tunnel-demo video-demo: tools
	@command -v curl >/dev/null || { echo "make: curl is missing: apt install curl" >&2; exit 1; }
	@command -v ip >/dev/null || { echo "make: ip is missing: apt install iproute2" >&2; exit 1; }
	$(CARGO) build --release --locked -p ropewalk-gateway --bin ropewalk-gateway
	$(CARGO) build --release --locked -p ropewalk-testbed --example between
	@release="$$(realpath "$${CARGO_TARGET_DIR:-target}")/release"; \
		GATEWAY="$$release/ropewalk-gateway" "$$release/examples/between" \
		$(SCENARIO) packaging/demo/$(DEMO).sh

# The Python tests use the programs that the Rust tests have built, so that they are built once.
test: test-rust ## run all tests
	ROPEWALK_PROGRAMS="$$(realpath "$${CARGO_TARGET_DIR:-target}")/debug" $(MAKE) --no-print-directory test-python

# Most tests of gateway and testbed wait for clocks and timers, so more of them run at a time than there are
# processors.
test-rust: preload network-tools ## run the Rust tests, doctests included
	BUILT=1 RUST_TEST_THREADS=$${RUST_TEST_THREADS:-8} \
		$(CARGO) test --workspace --exclude ropewalk-binding --locked --no-fail-fast

# Tests preload it into programs; cargo builds it for none of them.
preload: tools
	$(CARGO) build --locked -p ropewalk-preload

# All that the tests need, built side by side with make's -j: a processor is idle for half of the
# optimised build, which is linked as one.
build: setup build-tests ## make what lint and test need

build-tests: lint-rust preload
	$(CARGO) test --workspace --exclude ropewalk-binding --locked --no-run

test-python: setup $(if $(ROPEWALK_PROGRAMS),,$(PROGRAM)) $(MADE)/test capture-tools browser ## run the Python tests, doctests included
	$(BIN)/python -m pytest -n 2 --dist loadfile
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/agreement --ignore tests/agreement/test_kernel.py
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/captures

lint: lint-rust lint-python ## check formatting, lints and types

lint-rust: $(MADE)/interpreter ## the Rust half of it
	@$(CARGO) fmt --version >/dev/null 2>&1 && $(CARGO) clippy --version >/dev/null 2>&1 \
		|| rustup component add rustfmt clippy \
		|| { echo "make: rustfmt and clippy are missing: rustup component add rustfmt clippy" >&2; exit 1; }
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

lint-python: setup $(MADE)/lint $(MADE)/test ## the Python half of it
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest ropewalk._core

docs: setup models ## write docs/keys.md from the schema, docs/gallery.md from its list, what tutorials print
	$(BIN)/python docs/make_keys.py
	$(BIN)/python docs/make_gallery.py --page
	$(BIN)/python docs/make_tutorials.py

docs-site: $(MADE)/docs-site ## make a site of the pages and of Python's docstrings in target/site; after `make rustdoc` with the crates'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs target/site
	@echo "target/site/index.html"

architecture: ## draw docs/images/architecture.svg and packet-path.svg from docs/design/*.dot (needs graphviz)
	@command -v dot >/dev/null || $(call apt,graphviz) \
		|| { echo "make: dot is missing: apt install graphviz" >&2; exit 1; }
	for name in architecture packet-path; do \
		dot -Tsvg "docs/design/$$name.dot" -o "docs/images/$$name.svg" || exit 1; done

# Pages of crates that are gone would stay.
rustdoc: tools ## make the documentation of all crates in target/doc; a warning is an error
	@rm -rf "$${CARGO_TARGET_DIR:-target}/doc"
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "$${CARGO_TARGET_DIR:-target}/doc/ropewalk_simulator/index.html"

# The oldest Rust that Cargo.toml promises.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
msrv: $(MADE)/venv ## check all crates with the oldest Rust that Cargo.toml promises
	@rustup run $(MSRV) cargo --version >/dev/null 2>&1 || rustup toolchain install $(MSRV) --profile minimal
	CARGO_TARGET_DIR=target/msrv rustup run $(MSRV) cargo check --workspace --all-targets --locked

# ADVISORIES=1 fetches the database of known vulnerabilities.
ADVISORIES ?=
DENY_VERSION := 0.20.2
deny: target/tools/bin/cargo-deny ## check licences and sources of all dependencies; ADVISORIES=1: known vulnerabilities, too
	target/tools/bin/cargo-deny --locked check $(if $(ADVISORIES),advisories) bans licenses sources

target/tools/bin/cargo-deny: | tools
	$(CARGO) install --locked --quiet --debug --root target/tools --target-dir target/tools/build cargo-deny@$(DENY_VERSION)

publish-check: tools ## package the pure crates as for crates.io and build each package; nothing is uploaded
	$(CARGO) publish --workspace --dry-run --locked --allow-dirty

release: $(MADE)/venv static-compiler ## build the files of a release in target/release-files, and verify them in a clean environment
	PYTHON=$(CURDIR)/$(BIN)/python packaging/release.sh

reference: setup models ## print our numbers beside ns-3's, Linux's, htsim's and the formulas'
	$(BIN)/python tests/agreement

kernel: setup models ## print our numbers beside those of this machine's kernel, in two hours
	$(BIN)/python tests/agreement/kernel.py
	$(BIN)/python tests/agreement/kernel_random.py
	$(BIN)/python tests/agreement/reordering_kernel.py
	$(BIN)/python tests/agreement/naive.py
	$(BIN)/python -m pytest tests/agreement/test_kernel.py

RUNS ?= 5
goodput: setup ## measure the gateway over emulated links, beside the kernel's MPTCP; RUNS=5 takes 100 minutes
	$(CARGO) build --release --locked -p ropewalk-gateway --bin ropewalk-gateway
	$(CARGO) build --release --locked -p ropewalk-over-links --bin tunnel_goodput --bin outage
	$(BIN)/python tests/agreement/gateway.py $(RUNS)
	$(BIN)/python tests/agreement/varying.py --runs $(RUNS)

client: setup $(MADE)/quic ## measure the client over emulated links, as root, beside MPTCP and each link alone; 30 minutes
	$(CARGO) build --release --locked -p ropewalk-gateway --bin ropewalk-gateway
	$(CARGO) build --release --locked -p ropewalk-testbed --example between
	$(BIN)/python tests/agreement/client.py

THROUGH ?= proxy
# THROUGH=tunnel takes the tunnel in place of relay and proxy.
thin-stream: RUNS = 10
thin-stream: tools ## measure a thin stream through the gateway, alone and beside a download, as root, in six minutes
	$(CARGO) build --release --locked -p ropewalk-gateway --bin ropewalk-gateway
	$(CARGO) build --release --locked -p ropewalk-over-links --bin thin_stream
	@release="$$(realpath "$${CARGO_TARGET_DIR:-target}")/release"; \
		"$$release/thin_stream" gateway="$$release/ropewalk-gateway" links=20/20,5/200 congestion=cubic \
			through=$(THROUGH) runs=$(RUNS)

SCENARIOS ?= $(or $(WORLDS),1000)
random-scenarios worlds: setup ## simulate 1000 random scenarios: the gateway, MPTCP, and each link alone; ten minutes
	$(BIN)/python tests/agreement/scenario_survey.py --scenarios $(SCENARIOS)

hulls: setup models ## simulate videos over cheap and dear links: cost over lateness of each scheduler; docs/agreement/prices.md
	$(BIN)/python tests/agreement/hulls.py --write

reproductions: setup models ## make the papers' tables and figures again; write docs/reproductions.md
	$(BIN)/python docs/make_reproductions.py

faults: tools ## run 10,000 seeds of fault plans against the gateway's association
	$(CARGO) run --release --locked -p ropewalk-striping --example fault_plans -- \
		crates/striping/tests/faults/*.toml --seeds 2500

real-faults: tools ## kill, cut and stop running gateways by 200 plans, as root, in ten minutes
	$(CARGO) build --release --locked -p ropewalk-gateway --bin ropewalk-gateway
	$(CARGO) build --release --locked -p ropewalk-over-links --bin real_faults
	@release="$$(realpath "$${CARGO_TARGET_DIR:-target}")/release"; \
		"$$release/real_faults" gateway="$$release/ropewalk-gateway" seeds=200

# STUDIES names some of them.
STUDIES ?=
gallery: setup $(MADE)/report ## run twelve bundled studies, make a report of each and a page that leads to them
	$(BIN)/python docs/make_gallery.py $(STUDIES)

# AGAINST names a commit: its build and this one run the simulator's cases in turn.
# PROFILED=1 lays this one out by a profile, as a wheel is.
AGAINST ?=
PROFILED ?=
bench: setup models ## measure the simulator, the association, captures, formulas, starts; AGAINST=COMMIT beside that one
	$(BIN)/python benches/simulator.py rates $(if $(PROFILED),--profiled) $(if $(AGAINST),--against $(AGAINST))
	$(BIN)/python benches/cores.py
	$(CARGO) run --release --locked -p ropewalk-speed --bin carrying
	$(CARGO) run --release --locked -p ropewalk-speed --bin writing
	$(BIN)/python benches/models.py
	$(BIN)/python benches/starts.py

bench-studies: setup $(MADE)/test ## measure studies of 10,000 short runs, whose workers are killed; ten minutes
	$(BIN)/python benches/studies.py --dask

# FAIL_ABOVE=3 fails if a case costs over 3 % more instructions than the table says.
FAIL_ABOVE ?=
instructions: tools ## count instructions and cache misses per data packet, compared with benches/instructions.csv
	$(PYTHON) benches/simulator.py instructions $(if $(FAIL_ABOVE),--fail-above $(FAIL_ABOVE))

# SAMPLE is of each crate, SEED draws it.
SAMPLE ?= 60
SEED ?= 1
MUTANTS_VERSION := 27.1.0
mutants: target/tools/bin/cargo-mutants ## change the code in 60 places of each of four crates; which would no test notice? hours; goes on where it was stopped
	$(PYTHON) tests/mutants.py --sample $(SAMPLE) --seed $(SEED)

target/tools/bin/cargo-mutants: | tools
	$(CARGO) install --locked --quiet --root target/tools cargo-mutants@$(MUTANTS_VERSION)

clean: ## remove all that was made
	rm -rf $(VENV) target results .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/ropewalk/*.so
	find python tests scenarios -name __pycache__ -type d -exec rm -rf {} +

tools:
	@command -v $(CARGO) >/dev/null \
		|| { echo "make: cargo is missing: install stable Rust (rustup)" >&2; exit 1; }
	@$(CARGO) --version | awk -F '[ .]' '$$2 == 1 && $$3 < 88 { exit 1 }' \
		|| { echo "make: Rust 1.88 or later is needed, this is $$($(CARGO) --version): rustup update stable" >&2; exit 1; }
	@command -v cc >/dev/null \
		|| { echo "make: a C compiler is missing (Rust links with it): apt install gcc" >&2; exit 1; }
	@test -n "$(PYTHON)" \
		&& $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "make: Python 3.11 or later is missing: apt install python3 python3-venv" >&2; exit 1; }

# Installs packages of Debian, where that may be done.
apt = { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	&& apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null; }

# What reads captures beside us. Without root the tests that ask them are skipped, and say so.
capture-tools:
	@command -v tshark >/dev/null && command -v tcptrace >/dev/null \
		|| $(call apt,tshark tcptrace) \
		|| echo "make: tshark or tcptrace is missing: the tests that ask them are skipped" >&2

# Tests of the tunnel lay routes and packet filters in network namespaces. Without these tools, or without
# root, they are skipped, and say so.
network-tools:
	@command -v ip >/dev/null && command -v nft >/dev/null \
		|| $(call apt,iproute2 nftables) \
		|| echo "make: ip or nft is missing: tests of the tunnel in namespaces are skipped (apt install iproute2 nftables)" >&2

# What shows reports to the tests. Without it those that ask it are skipped, and say so.
browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
			command -v $$name >/dev/null && exit 0; done; \
		$(call apt,chromium) \
		|| echo "make: chromium is missing: the tests that show reports in it are skipped (apt install chromium)" >&2

# A C compiler for static programs. Without it the package's script says what it leaves out.
static-compiler:
	@command -v musl-gcc >/dev/null || $(call apt,musl-tools) || true

# Without root what needs it is skipped, and says so.
encoder:
	@command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null \
		|| $(call apt,ffmpeg) \
		|| echo "make: ffmpeg is missing: no video is encoded (apt install ffmpeg)" >&2

# What only some models need.
models: $(MADE)/models

# Debian and Ubuntu keep a part of Python's venv module in a package of its own.
$(MADE)/interpreter: | tools
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && apt-get install -y -qq "$$package"; \
		else \
			echo "make: Python's venv module is missing: sudo apt install $$package" >&2; exit 1; \
		fi; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(MADE) && touch $@

$(MADE)/venv: $(MADE)/interpreter constraints.txt
	@$(PIP) install --quiet --upgrade pip maturin
	@touch $@

# All that the package needs, but the package.
$(MADE)/libraries: $(MADE)/venv pyproject.toml
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
		>$(MADE)/requirements.txt
	@$(PIP) install --quiet --requirement $(MADE)/requirements.txt
	@touch $@

# While pip downloads, cargo compiles all but the binding, which maturin compiles for its own settings.
$(MADE)/package: $(MADE)/interpreter constraints.txt pyproject.toml $(filter-out $(PROGRAM_SOURCES),$(RUST_SOURCES)) | tools
	$(CARGO) build --profile setup --locked -p ropewalk-capture & \
		$(MAKE) --no-print-directory $(MADE)/libraries; status=$$?; wait $$! && test $$status = 0
	$(BIN)/maturin develop --profile setup --locked
	@touch $@

$(PROGRAM): $(RUST_SOURCES) | tools
	$(CARGO) build --profile setup --locked -p ropewalk-gateway -p ropewalk-testbed -p ropewalk-preload
	@touch $@

$(MADE)/models: $(MADE)/package
	@$(PIP) install --quiet "ropewalk[models]"
	@touch $@

$(MADE)/docs-site: $(MADE)/package
	@$(PIP) install --quiet "ropewalk[docs]"
	@touch $@

$(MADE)/test $(MADE)/lint $(MADE)/report $(MADE)/quic: $(MADE)/%: $(MADE)/venv pyproject.toml
	@$(PIP) install --quiet --group $*
	@touch $@
