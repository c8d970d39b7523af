# One command for what people do daily. CMake presets are underneath; see CMakePresets.json.
PRESET ?= release
BUILD := build/$(PRESET)

.PHONY: help setup build operators cluster manifests test test-all unit simulation soak mutations fuzz scenarios demo bench images test-images nodes demo-real test-real audit check format tidy asan tsan
.DEFAULT_GOAL := help

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install what is needed (Debian 12 packages; asks nothing, safe to repeat)
	@scripts/setup.sh

build: setup ## Build the three operators and their tests (PRESET=dev|release|asan|tsan)
	@scripts/build.sh $(PRESET)

operators: setup ## Build the three operators and kubectl esi only, without their tests
	@scripts/build.sh $(PRESET) esi-testbed esi-batchjob esi-scheduling kubectl-esi

cluster: setup ## Build the control plane used by demo and tests (once: about 5 minutes)
	@integration-tests/cluster/build.sh

manifests: cluster ## The chart rendered into helm/manifests, for people without Helm and for a release
	@scripts/manifests.sh

test: ## Unit tests, the core of the simulation, the real binaries on a real control plane (K8S=1.34: the core, there)
	@scripts/$(if $(K8S),test_kubernetes,test).sh

test-all: ## The rest: all scenarios, the whole simulation, images, the gate of the benchmark
	@scripts/test.sh all

unit: build ## Unit tests only
	@ctest --preset $(PRESET) -j2 --no-tests=error

simulation: build ## The simulation as in the tests: 1,000 seeds, 600 plans of gangs, crash table, spec sweep (SEEDS=n)
	@PRESET=$(PRESET) scripts/simulate.sh

soak: build ## Seeds for long: 10,000, or SEEDS=n, from FROM=n on
	@$(BUILD)/integration-tests/simulation/esi-simulation seeds --from $(or $(FROM),1) --count $(or $(SEEDS),10000)
	@$(BUILD)/integration-tests/simulation/esi-simulation gangs --from $(or $(FROM),1) --count $(or $(GANGS),10000)
	@$(BUILD)/integration-tests/simulation/esi-simulation foresee --from $(or $(FROM),1) --count $(or $(STATES),1000)

mutations: build ## Do the tests bite? Each known mistake, one at a time, must be caught (half an hour)
	@integration-tests/simulation/mutations/mutate.py

fuzz: setup ## Fuzz every parser and planner, a minute each (FUZZ_SECONDS=60; T="records times" picks some)
	@scripts/fuzz.sh $(T)

scenarios: build cluster ## Scenario tests only (T="-k ghosts" picks some)
	@integration-tests/scenarios/run.sh $(T)

demo: operators cluster ## A running evaluation set-up, live in the terminal (KEEP=1 leaves it running)
	@integration-tests/demo/run.sh

bench: build cluster ## The numbers of docs/performance.md, half an hour (T=--quick: the small size only; T=--docs writes them)
	@scripts/bench.sh $(T)

images: build ## Container images as OCI archives in build/images; needs no container engine
	@scripts/images.sh

test-images: build ## What the images contain, and whether they run
	@integration-tests/images/run.sh $(T)

nodes: operators cluster ## Build what real nodes on this machine consist of (root; once: a quarter of an hour)
	@scripts/setup.sh integration-tests/node/debian-packages.txt && integration-tests/node/build.sh >/dev/null

demo-real: nodes ## Real Spark and Flink in slots of real nodes, live in the terminal (KEEP=1 leaves it running)
	@integration-tests/node/demo.sh

test-real: nodes ## Everything on real nodes: jobs, 200 swaps, faults, interference, upgrade (T="-k upgrade" picks some)
	@integration-tests/node/run.sh $(T)

audit: ## Known vulnerabilities of Python and npm packages; for a release, needs the internet
	@scripts/audit.sh

check: setup ## What needs no build: format, names and links of the docs, spelling, scripts; tidy on changed files
	@scripts/check.sh

format: ## Format all C++ and Go sources in place
	@find common operators integration-tests -name '*.cpp' -o -name '*.h' | xargs clang-format-19 -i
	@git ls-files '*.go' | xargs "$$(GOTOOLCHAIN=local "$$(integration-tests/cluster/go.sh)" env GOROOT)/bin/gofmt" -w

tidy: build ## Run clang-tidy's bug-finding checks over all sources
	@run-clang-tidy-19 -quiet -p $(BUILD) '/(common|operators)/.*(?<!_test)(?<!_bench)\.cpp$$'
	@run-clang-tidy-19 -quiet -p $(BUILD) -checks=-bugprone-unchecked-optional-access '/(common|operators)/.*_(test|bench)\.cpp$$'

asan: ## Unit tests under ASan and UBSan
	@$(MAKE) unit PRESET=asan

tsan: ## Unit tests under ThreadSanitizer
	@$(MAKE) unit PRESET=tsan
