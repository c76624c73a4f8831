# One way each; plain `make` prints what there is. Every target sets up what it needs by itself.
PYTHON ?= python3
PORT ?= 8080
SECONDS ?= 300
# What another Python than the usual one needs lies beside that one's: make test PYTHON=python3.13, by name or by path.
VENV := $(if $(findstring python3.,$(notdir $(PYTHON))),build/venv-$(notdir $(PYTHON)),.venv)
BIN := $(VENV)/bin
PINNED = $(BIN)/python3 -m pip install -q --disable-pip-version-check --require-hashes
ROUTER := build/run/router

help:
	@echo "make run           daemon and chat page on a stock router root in $(ROUTER) (PORT=$(PORT))"
	@echo "make test          all tests that need no emulator; sets up its parts (half an hour on two processors); PYTHON=python3.13"
	@echo "make pythons       make test under Python 3.13 and 3.14, where they are here"
	@echo "make arches        packages and core on 32-bit MIPS, big-endian, musl and Python 3.14 (as root; ONLY=mipsel)"
	@echo "make test-all      make test and everything longer that is there"
	@echo "make fresh         make test in a new Debian, as root and as a user at a terminal (as root; WHO=root or WHO=person)"
	@echo "make qemu          a router in an emulator, from install to removal (IMAGE= an official image, or what is there)"
	@echo "make mutants       switches off one safety after another; each must turn a test red (SECONDS=)"
	@echo "make parts         the tests of the core and of each part without the others (ONLY=none, a part, all or --marked)"
	@echo "make fuzz          changed inputs for every parser that meets foreign bytes (SECONDS=$(SECONDS) for each)"
	@echo "make soak          an hour of mixed work while everything around breaks, then the account (SECONDS=)"
	@echo "make bench         speed, memory and flash bytes, as a table"
	@echo "make eval          plain language to a working router, judged (SERVICE=, BASE_URL=, MODEL=, KEY_FILE=, SAMPLE=, TASKS=, RECORD=, ANSWERS=, FOLDER=, COSTS=, SETS=)"
	@echo "make peers         the programs that come nearest, installed and measured beside it (300 MB and some minutes)"
	@echo "make lint          ruff, shellcheck, mypy, vermin"
	@echo "make fmt           format"
	@echo "make types         mypy"
	@echo "make micropython   the tests of oasis/core under MicroPython"
	@echo "make acl           write the ACL files from the method table"
	@echo "make i18n          write the template of all texts, and bring the translations up to date with it"
	@echo "make pictures      take the pictures of all pages in docs/"
	@echo "make package       packages in build/packages, with what they weigh (PYTHON=3.11, 3.13 or any; IPK_KEY=, APK_KEY= sign the index)"
	@echo "make release       a release in build/release: feeds for every Python, sums, bill of materials, notes (IPK_KEY=, APK_KEY=)"
	@echo "make lock          pin again what make run and make test install, with hashes"
	@echo "make clean         remove build/ and the router root of make run"

# A venv with the launchers; `requests` is optional, so a host without network still runs.
$(BIN)/oasis: files/usr/bin/oasis files/usr/sbin/oasisd Makefile
	@test -x $(BIN)/python3 || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python3 -c 'import requests' 2>/dev/null || $(PINNED) -r tests/requirements/run.txt \
		|| echo "make: requests could not be installed; the standard library's HTTP is used"
	@for name in usr/sbin/oasisd usr/bin/oasis; do \
		sed -e '1s,.*,#!$(CURDIR)/$(BIN)/python3 -IS,' -e 's,^LIB = .*,LIB = "$(CURDIR)",' \
			-e 's,^ROOT = .*,ROOT = "$(CURDIR)/$(ROUTER)",' files/$$name >$(BIN)/$${name##*/}; \
		chmod 755 $(BIN)/$${name##*/}; \
	done
	@$(BIN)/python3 -m compileall -q oasis  # a package brings its bytecode: compiling makes the first daemon bigger

$(VENV)/dev: $(BIN)/oasis pyproject.toml tests/requirements/dev.txt
	@$(PINNED) -r tests/requirements/dev.txt
	@$(BIN)/python3 -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(BIN)/oasis
	@$(BIN)/python3 tests/host.py --root $(ROUTER) --port $(PORT)

setup: $(VENV)/dev
	@PYTHON=$(CURDIR)/$(BIN)/python3 sh tests/setup.sh

test: setup
	@$(BIN)/python3 -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder
	@$(BIN)/python3 tests/part_sets.py --quick

PYTHONS = 3.13 3.14
pythons: $(BIN)/oasis
	@for version in $(PYTHONS); do \
		python=$$($(BIN)/python3 package/build.py --where $$version) || continue; \
		$(MAKE) test PYTHON="$$python" || exit 1; \
	done

# 2: a machine cannot be had here, which it says.
arches: $(VENV)/dev
	@$(BIN)/python3 tests/arches/run.py $(ONLY)

test-all: test parts pythons qemu mutants eval
	@$(BIN)/python3 tests/arches/run.py || test $$? = 2
	@$(BIN)/python3 -m pytest -q -m long
	@$(BIN)/python3 tests/soak/soak.py --seconds 300
	@$(BIN)/python3 tests/bench/bench.py --long

fresh:
	@tests/fresh.sh $(WHO)

# What `make run` and `make test` install, with hashes, for every Python; npm's part is package-lock.json.
LOCK = $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate
lock: $(BIN)/oasis
	@$(BIN)/python3 -m pip install -q --disable-pip-version-check uv==0.13.9
	@cd tests/requirements && ../../$(LOCK) ../../pyproject.toml --python-version 3.10 --extra http -o run.txt
	@cd tests/requirements && ../../$(LOCK) ../../pyproject.toml --python-version 3.10 --extra http --extra package --extra dev -c run.txt -o dev.txt
	@cd tests/requirements && ../../$(LOCK) ../../pyproject.toml --python-version 3.10 --extra package -c dev.txt -o package.txt
	@cd tests/requirements && ../../$(LOCK) peers.in --python-version 3.11 -c dev.txt -o peers.txt
	@cd tests/requirements && ../../$(LOCK) models.in --python-version 3.10 --no-deps -o models.txt
	@npm install --prefix tests --package-lock-only --no-audit --no-fund --loglevel=error

qemu:
	@$(PYTHON) tests/qemu/run.py

mutants: SECONDS = 86400
mutants: $(VENV)/dev
	@$(BIN)/python3 tests/mutants.py --seconds $(SECONDS)

parts: $(VENV)/dev
	@$(BIN)/python3 tests/part_sets.py $(ONLY)

fuzz: $(VENV)/dev
	@$(BIN)/python3 tests/fuzz/fuzz.py --seconds $(SECONDS)

soak: SECONDS = 3600
soak: $(VENV)/dev
	@$(BIN)/python3 tests/soak/soak.py --seconds $(SECONDS)

peers: $(VENV)/dev
	@$(BIN)/python3 tests/bench/peers.py

bench: $(VENV)/dev
	@$(BIN)/python3 tests/bench/bench.py

# A key comes from KEY_FILE or from the environment, never from here: a command line is for all to read.
eval: $(VENV)/dev
	@$(BIN)/python3 tests/eval/eval.py --service $(or $(SERVICE),offline) $(if $(BASE_URL),--base-url $(BASE_URL)) \
		$(if $(MODEL),--model $(MODEL)) $(if $(KEY_FILE),--key-file $(KEY_FILE)) $(if $(SAMPLE),--sample $(SAMPLE)) \
		$(if $(FOLDER),--folder $(FOLDER)) $(if $(CONTEXT),--context-tokens $(CONTEXT)) $(if $(COSTS),--costs) \
		$(if $(RECORD),--record $(RECORD)) $(if $(ANSWERS),--answers $(ANSWERS)) $(if $(SETS),--sets) $(if $(RESULTS),--results) $(TASKS)
	@$(if $(SERVICE)$(TASKS),,$(BIN)/python3 tests/eval/eval.py --service recorded --answers tests/eval/recorded/operator.jsonl --costs)

lint: $(VENV)/dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/shellcheck oasis/change/*.sh tests/*.sh files/etc/init.d/* files/etc/hotplug.d/*/* files/etc/uci-defaults/* files/www/cgi-bin/* \
		files/usr/lib/oasis/*.sh package/scripts/* openwrt-feed/*/*.sh tests/package/base/*
	@$(BIN)/vermin --no-tips -t=3.10- --violations oasis
	@$(BIN)/mypy

fmt: $(VENV)/dev
	@$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format .

types: $(VENV)/dev
	@$(BIN)/mypy

micropython: $(VENV)/dev
	@$(BIN)/python3 tests/micropython.py

acl: $(BIN)/oasis
	@$(BIN)/python3 package/acl.py && $(BIN)/python3 package/known.py

# PYTHON=3.13 is the Python that the bytecode is for; what builds is that of the venv.
package:
	@test -x $(BIN)/python3 || python3 -m venv $(VENV)
	@$(BIN)/python3 -c 'import rcssmin, rjsmin' 2>/dev/null || $(PINNED) -r tests/requirements/package.txt \
		|| echo "make: rjsmin and rcssmin could not be installed; the pages are packed as they are written"
	@$(BIN)/python3 package/build.py $(if $(filter-out python3,$(PYTHON)),--python $(patsubst python%,%,$(notdir $(PYTHON)))) \
		$(if $(IPK_KEY),--ipk-key $(IPK_KEY)) $(if $(APK_KEY),--apk-key $(APK_KEY))

# All or nothing, and the pages small as everywhere: what is missing ends it.
release: $(BIN)/oasis
	@$(PINNED) -r tests/requirements/package.txt
	@$(BIN)/python3 package/release.py $(if $(IPK_KEY),--ipk-key $(IPK_KEY)) $(if $(APK_KEY),--apk-key $(APK_KEY))

i18n:
	@$(PYTHON) package/i18n.py

pictures: $(VENV)/dev
	@$(BIN)/python3 -c 'import PIL' 2>/dev/null || $(BIN)/python3 -m pip install -q --disable-pip-version-check pillow==13.0.0
	@$(BIN)/python3 tests/luci/pictures.py

clean:
	rm -rf build

.PHONY: help run setup test pythons arches test-all fresh lock qemu mutants parts fuzz soak peers bench eval lint fmt types micropython acl package release i18n pictures clean
