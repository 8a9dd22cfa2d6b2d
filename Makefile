# starswitch. `make help` lists what can be asked for.
#
# Nothing is listed here that can be found: a folder (docs/layers.txt names
# them) is a library of its .c files, and hub/program/main.c is starswitch-hub.
# A variant is the same build elsewhere:
# make BUILD=build/asan SAN=-fsanitize=address. PORTABLE=1 needs the C library
# alone where it runs: what goes into the Python wheel.

FOLDERS := $(filter-out include examples,$(shell tools/layers --folders))

BUILD ?= $(if $(filter cc gcc,$(CC)),build,build/$(notdir $(CC)))
JOBS ?= 2
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ ?= $(filter-out session,$(patsubst tests/fuzz/%.c,%,\
	$(wildcard tests/fuzz/*.c)))
VERSION := $(or $(shell sed -n 's/^\#define STAR_VERSION "\(.*\)"/\1/p' \
	include/starswitch.h 2>/dev/null),0.0.0)
SO = libstarswitch.so.$(or $(shell sed -n 's/^\#define STAR_ABI //p' \
	include/starswitch.h 2>/dev/null),0)

# ---- compiling ----

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wundef -Wformat=2 $(if $(WERROR),-Werror)
LANGUAGE = -std=c11 -D_GNU_SOURCE $(if $(PORTABLE),-DSTAR_PORTABLE) \
	-I. -Iinclude $(PACKAGE_CFLAGS)
CFLAGS ?= $(if $(PORTABLE),-O2 -ffile-prefix-map=$(CURDIR)=.,-O2 -g)
COMPILE = $(CC) $(LANGUAGE) -ffp-contract=off -fPIC -fvisibility=hidden \
	-pthread -MMD -MP $(WARNINGS) $(CFLAGS) $(SAN)

# Asked when first used, and once: before `make deps` there is no pkg-config.
, := ,
once = $(eval $1 := $$(shell $2))$($1)
MSGPACK = $(call once,MSGPACK,\
	pkg-config --exists msgpack-c && echo msgpack-c || echo msgpack)
MODULES = libsodium $(MSGPACK) libxxhash
PACKAGES = $(MODULES) zlib json-c libmicrohttpd \
	$(if $(PORTABLE),,openblas libczmq)
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,pkg-config --cflags $(PACKAGES))
SHARED_LIBS = $(call once,SHARED_LIBS,pkg-config --libs $(PACKAGES))
PACKAGE_LIBS = $(if $(PORTABLE),\
	-Wl$(,)-Bstatic $(SHARED_LIBS) $(BUILD)/libhub-page.a \
	-Wl$(,)-Bdynamic,$(SHARED_LIBS))
# libzmq is who the tests and benchmarks talk to.
ZMQ_LIBS = $(call once,ZMQ_LIBS,pkg-config --libs libzmq libczmq)
CUNIT_LIBS = $(call once,CUNIT_LIBS,pkg-config --libs cunit)

object = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $1))
LIBRARIES = $(foreach f,$(FOLDERS),$(BUILD)/lib$(subst /,-,$f).a)
GROUP = -Wl,--as-needed -Wl,--start-group $(LIBRARIES) -Wl,--end-group
LINK = $(CC) $(SAN) $(LDFLAGS) -pthread -o $@ $(filter %.o,$^) $(GROUP)
LINK_ALL = $(LINK) $(PACKAGE_LIBS) -lm
Q = $(if $(V),,@)

PROGRAMS = $(patsubst %/program/main.c,$(BUILD)/starswitch-%,\
	$(wildcard $(FOLDERS:=/main.c)))
API = $(call object,node/library/*.c)
LIBSTAR = $(if $(API),$(BUILD)/libstarswitch.a $(BUILD)/libstarswitch.so)
EXAMPLES = $(patsubst %.c,$(BUILD)/%,\
	$(filter-out %_trainer.c,$(wildcard examples/*.c))) \
	$(patsubst %.c,$(BUILD)/%.so,$(wildcard examples/*_trainer.c))
BENCHES = $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*.c))
CONVERGENCE = $(if $(wildcard bench/convergence),$(BUILD)/star-convergence)
CHAOS = $(if $(wildcard tests/chaos),$(BUILD)/star-chaos)
ATTACK = $(if $(wildcard tests/attack),$(BUILD)/star-attack)
TABLES = $(patsubst tools/%.c,$(BUILD)/star-%,\
	$(wildcard tools/tables.c tools/formats.c tools/vectors.c \
	tools/operating.c tools/completion.c))
TESTS = $(BUILD)/run-tests
TEST_SOURCES = $(wildcard tests/*.c tests/*/*.c tests/*/*/*.c)
TEST_OBJECTS = $(call object,\
	$(filter-out tests/replay.c tests/chaos/main.c tests/attack/% \
	tests/fuzz/% tests/host/% tests/preload/%,$(TEST_SOURCES)))
PRELOADS = $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/preload/*.c))
REPLAYS = $(FUZZ:%=$(BUILD)/replay-%)
SOURCES = $(wildcard $(FOLDERS:=/*.c) $(TEST_SOURCES) \
	bench/*.c bench/convergence/*.c bench/kit/*.c tools/*.c examples/*.c)

all: $(PROGRAMS) $(LIBSTAR) ## the programs and the library (the default)

$(BUILD)/ready: Makefile
	@mkdir -p $(@D)
	@pkg-config --exists --print-errors $(PACKAGES) || \
		{ echo "Something needed is missing: try make deps." >&2; exit 1; }
	@touch $@

$(BUILD)/%.o: %.c $(BUILD)/ready
	@mkdir -p $(@D)
	$(if $(V)$(HUSH),,@echo "  cc $<")
	$Q$(COMPILE) -c -o $@ $<
# The numbers: twice as fast, and still the same on every machine.
$(BUILD)/train/%.o: COMPILE += -O3 -fno-math-errno
$(BUILD)/bench/kit/raw_%.o: COMPILE += -O3
$(BUILD)/core/floats.o $(BUILD)/policies/%.o $(BUILD)/node/inbox.o \
	$(BUILD)/sim/models.o $(BUILD)/sim/trainer_exchange.o: COMPILE += -O3

# The folder itself is a prerequisite: a file removed leaves its library.
define library
$(BUILD)/lib$(subst /,-,$1).a: \
		$(call object,$(filter-out $1/main.c,$(wildcard $1/*.c))) \
		$(wildcard $1)
	$Qmkdir -p $$(@D) && rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach f,$(FOLDERS),$(eval $(call library,$f)))

# The page goes into the hub as it is.
PAGE = $(addprefix hub/page/page.,html css js)
$(BUILD)/hub/page/page_bytes.c: tools/embed $(PAGE)
	@mkdir -p $(@D)
	$Qtools/embed hub/page >$@
$(BUILD)/hub/page/page_bytes.o: $(BUILD)/hub/page/page_bytes.c $(BUILD)/ready
	$Q$(COMPILE) -c -o $@ $<
$(BUILD)/libhub-page.a: $(BUILD)/hub/page/page_bytes.o

$(PROGRAMS): $(BUILD)/starswitch-%: $(BUILD)/%/program/main.o $(LIBRARIES)
	$Q$(LINK_ALL)
$(BENCHES): $(BUILD)/%: $(BUILD)/%.o $(call object,bench/kit/*.c) $(LIBRARIES)
	$Q$(LINK_ALL) $(ZMQ_LIBS)
$(CONVERGENCE): $(call object,bench/convergence/*.c) $(LIBRARIES)
	$Q$(LINK_ALL)
$(CHAOS): $(call object,tests/chaos/*.c) $(LIBRARIES)
	$Q$(LINK_ALL)
$(ATTACK): $(call object,tests/attack/*.c bench/kit/kit.c) $(LIBRARIES)
	$Q$(LINK_ALL)
$(BUILD)/star-%: $(BUILD)/tools/%.o $(LIBRARIES)
	$Q$(LINK_ALL)
$(BUILD)/star-vectors: $(call object,tools/vectors_*.c)
$(TESTS): $(TEST_OBJECTS) $(LIBRARIES)
	$Q$(LINK_ALL) $(CUNIT_LIBS) $(ZMQ_LIBS)
$(BUILD)/replay-%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/session.o \
		$(BUILD)/tests/replay.o $(LIBRARIES)
	$Q$(LINK_ALL)
$(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/session.o \
		$(LIBRARIES)
	$Q$(LINK_ALL) -fsanitize=fuzzer

# ---- the library: node/library and what it needs; star_ is all one sees ----

SYMBOLS = node/library/symbols.map
$(BUILD)/libstarswitch.so: $(API) $(LIBRARIES) $(SYMBOLS)
	$Q$(LINK_ALL) -shared -Wl,-soname,$(SO) -Wl,-z,nodelete \
		-Wl,--version-script=$(SYMBOLS) \
		$(if $(SAN),,-Wl,--no-undefined -Wl,--exclude-libs,ALL)
	$Qln -sf $(@F) $(BUILD)/$(SO)
$(BUILD)/libstarswitch.a: $(API) $(LIBRARIES)
	$Qld -r -o $(BUILD)/starswitch.o $(API) \
		--start-group $(LIBRARIES) --end-group
	$Qobjcopy --localize-hidden $(BUILD)/starswitch.o
	$Qrm -f $@ && ar rcs $@ $(BUILD)/starswitch.o

# An example links as a stranger's program would; a trainer is loaded.
examples: $(EXAMPLES) ## the programs and trainers of examples/
$(BUILD)/examples/%.so: $(BUILD)/examples/%.o
	$Q$(CC) $(SAN) -shared -o $@ $< -lm
# What scripts load: before the C library, or as a trainer.
$(BUILD)/tests/preload/%.so: $(BUILD)/tests/preload/%.o
	$Q$(CC) -shared -o $@ $<
$(BUILD)/examples/%: $(BUILD)/examples/%.o $(BUILD)/libstarswitch.so
	$Q$(CC) $(SAN) -pthread -o $@ $< -L$(BUILD) -lstarswitch -lm \
		-Wl,-rpath,'$$ORIGIN/..'

INSTALL_TREE = $(BUILD) "$(DESTDIR)" "$(PREFIX)" $(VERSION) $(SO) $(MODULES)
install: all ## programs, library, man pages, units (PREFIX, DESTDIR)
	@tools/install-tree install $(INSTALL_TREE)
uninstall: ## takes away what install has put there
	@tools/install-tree uninstall $(INSTALL_TREE)

deb: ## Debian packages, in build/deb: apt install build/deb/*.deb
	@tools/install build deb
	@tools/deb $(BUILD) $(VERSION)
deb-check: deb ## install, use, upgrade, purge them in a bare Debian
	@tests/packages/debian.sh $(BUILD)/deb
container-check: deb-check ## the image and the manifests, in a bare Debian
	@tests/packages/container.sh $(BUILD)/deb
wheel-check: ## pip install of the wheel and its demo, in a bare Debian
	@rm -f $(BUILD)/pip/*.whl
	@python3 -m pip -q wheel --no-deps -w $(BUILD)/pip ./python
	@tests/packages/wheel.sh $(BUILD)/pip

deps: ## install what building needs from Debian's packages
	@tools/install build

BUILD_ALL = $(MAKE) --no-print-directory -j$(JOBS) HUSH=1 all
demo: ## a hub and four nodes train a real model on this machine
	@tools/install build demo
	@$(BUILD_ALL) -q 2>/dev/null || \
		echo "Building starswitch: a minute or two the first time."
	@$(BUILD_ALL)
	@STAR_BUILD=$(BUILD) tools/demo.sh

demo-python: ## a hub and four PyTorch scripts (PYTHON=FILE: one with PyTorch)
	@tools/install build demo
	@$(BUILD_ALL) -q 2>/dev/null || \
		echo "Building starswitch: a minute or two the first time."
	@$(BUILD_ALL)
	@STAR_BUILD=$(BUILD) tools/demo-python $(DEMO)

# ---- the checks ----

# Everything but the last line only speaks when it fails; the last are CUnit's.
# Scripts mostly wait; processors that are idle go to what only computes.
CHECK = $(MAKE) --no-print-directory -j$(JOBS) BUILD=build/check WERROR=1
IDLE = chrt -i 0
check: ## all tests, from nothing: installs, builds, runs
check-c: ## the same without Python's: needs Debian's packages only
check: SECTIONS = python
check: PYTHON_CHECK = "$(CHECK) python-step"
check check-c:
	@tools/install build demo checks $(SECTIONS)
	@tools/step 1200 build $(CHECK) all programs-for-checks
	@tools/together "$(CHECK) scripts" $(PYTHON_CHECK) \
		"$(CHECK) test >build/check/tests.log 2>&1 || \
			{ cat build/check/tests.log; exit 1; }" \
		"$(IDLE) tools/step 1200 gate $(CHECK) -k $(QUICK)"
	@cat build/check/tests.log
check-slow: ## tidy, cppcheck, sanitizers and other variants of the build
	@tools/install build demo checks
	@tools/step 2400 "tidy and cppcheck" $(CHECK) -k $(SLOW)
	@tools/step 2400 variants $(MAKE) --no-print-directory -j$(JOBS) \
		WERROR=1 variants

TEST_SECONDS ?= 600
RUN_TESTS = STAR_BUILD=$(BUILD) \
	timeout -k 10 $(TEST_SECONDS) $(TESTS) $(SUITES)
test: all $(EXAMPLES) $(TESTS) ## the CUnit tests (SUITES="core/ hub/": some)
	@$(RUN_TESTS)

programs-for-checks: $(TESTS) $(REPLAYS) $(BENCHES) $(EXAMPLES) $(TABLES) \
	$(CONVERGENCE) $(CHAOS) $(ATTACK) $(PRELOADS)

# Each has a network of its own; the longest come first.
LONGEST = tests/e2e/chaos.sh tests/e2e/zombie.sh
SCRIPTS = $(LONGEST) $(filter-out $(LONGEST),\
	$(sort $(wildcard tests/tools/*.sh tests/e2e/*.sh tests/engines/*.sh)))
AT_ONCE = $(shell unshare -n true 2>/dev/null && echo 3 || echo 1)
scripts: all programs-for-checks ## the tests that are shell scripts
	@printf '%s\n' $(SCRIPTS) | STAR_BUILD=$(BUILD) xargs -P$(AT_ONCE) -I{} \
		tools/step 600 {} tools/apart sh {}

# PYTEST="-k wheel -x": some of the tests, and how. The limit is a file's.
PYTHON_SECONDS ?= 900
PYTHON_CHECKS = tools/python-check $(BUILD) $(PYTHON_SECONDS)
python-check: all ## checks and tests of the Python package
	@$(PYTHON_CHECKS) $(PYTEST)
# Beside tests of C, whose clocks are finer.
python-step: all
	@nice -n 5 $(PYTHON_CHECKS)
python-venv: ## build/python-venv, where the tests of Python find what they need
	@tools/install python
	@tools/python-venv

QUICK = layers cycles purity banned size formatted symbols docs-check
SLOW = tidy cppcheck
GATE = $(QUICK) $(SLOW)
gate: $(GATE) ## all static checks
layers: ## who includes whom: docs/layers.txt
	@tools/layers
ACYCLIC = $(shell tools/layers --acyclic)
cycles: $(call object,$(ACYCLIC:=/*.c)) ## files that need each other
	@tools/cycles $(BUILD) $(ACYCLIC)
PURE = $(patsubst %.c,$(BUILD)/%.o,$(shell tools/layers --pure))
purity: $(PURE) ## what the pure folders call: tools/purity.allow
	@tools/purity $(BUILD) $(PURE)
banned: ## functions nobody calls: tools/banned.txt
	@tools/banned
size: ## functions <= 60 lines, files <= 400 or 700, lines <= 80 columns
	@tools/size
C_FILES = $(SOURCES) $(wildcard bench/peers/*.c include/*.h \
	$(addsuffix *.h,$(sort $(dir $(SOURCES)))))
formatted: ## .c and .h are as make format leaves them
	@printf '%s\n' $(C_FILES) | \
		xargs -P$(JOBS) -n100 clang-format --dry-run -Werror
format: ## lay out all .c and .h anew, by .clang-format
	@printf '%s\n' $(C_FILES) | xargs -P$(JOBS) -n100 clang-format -i
symbols: $(LIBSTAR) ## the library shows star_ and nothing else
	@tools/symbols $^
# Its analyzer takes most of the time, and leaves out tests: those run under
# sanitizers.
tidy: $(SOURCES:%.c=$(BUILD)/%.tidy) ## clang-tidy
$(BUILD)/%.tidy: %.c $(BUILD)/%.o .clang-tidy
	@echo "  tidy $<"
	@clang-tidy --quiet $(if $(filter tests/%,$<),--checks=-clang-analyzer-*) \
		$< -- $(LANGUAGE) 2>$@.err || \
		{ grep -v ' warnings generated' $@.err; exit 1; }
	@mv $@.err $@
cppcheck: ## cppcheck, with tools/cppcheck.txt
	@mkdir -p $(BUILD)/cppcheck
	@cppcheck -q -j2 --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppressions-list=tools/cppcheck.txt \
		--error-exitcode=1 --library=posix -D_GNU_SOURCE -I. -Iinclude \
		--cppcheck-build-dir=$(BUILD)/cppcheck $(SOURCES)

docs: $(TABLES) ## write the generated pages anew
	@tools/docs $(TABLES) tools/ancestors tools/front-man
docs-check: $(TABLES) ## the generated pages say what the tables say
	@tools/docs --check $(TABLES) tools/ancestors tools/front-man

# ---- variants: the same build with another SAN, elsewhere ----

VARIANT = $(MAKE) --no-print-directory -j$(JOBS) CC=clang
FAILING = -fno-omit-frame-pointer -fno-sanitize-recover=all
ASAN = -fsanitize=address,undefined $(FAILING)
# Older sanitizers do not expect a kernel that spreads its maps widely.
STILL = STAR_SLOW=1 $(shell setarch -R true 2>/dev/null && echo setarch -R)

# Each is one process for most of its time, so two have a core each.
variants: sanitize tsan valgrind-check
valgrind-check:
	@$(CHECK) valgrind
sanitize: ## the tests and the fuzz corpora under ASan and UBSan (clang)
	@ASAN_OPTIONS="allocator_may_return_null=1:$$ASAN_OPTIONS" \
	$(STILL) $(VARIANT) TEST_SECONDS=1200 BUILD=build/asan SAN="$(ASAN)" \
		test replay
tsan: ## the tests of threads under TSan
	@TSAN_OPTIONS="suppressions=tests/tsan.txt $$TSAN_OPTIONS" \
	$(STILL) $(VARIANT) BUILD=build/tsan \
		SAN="-fsanitize=thread $(FAILING)" \
		SUITES="net/ node/library/ keys/enrol collectives/api \
			collectives/mail hub/page/" test
valgrind: $(EXAMPLES) $(TESTS) ## the tests of the pure folders under valgrind
	@STAR_BUILD=$(BUILD) STAR_SLOW=1 timeout -k 10 1200 \
		valgrind -q --error-exitcode=1 \
		--leak-check=full --errors-for-leak-kinds=definite \
		$(TESTS) core/ codec/ policies/ sim/trace/ collectives/ \
		hub/ node/
coverage: ## which lines the tests reach: build/coverage/index.html
	@$(MAKE) --no-print-directory -j$(JOBS) BUILD=build/coverage \
		CFLAGS="-O0 -g" SAN=--coverage test
	@gcovr --root . $(FOLDERS:%=--filter %/) --html-details \
		build/coverage/index.html --print-summary build/coverage

replay: $(REPLAYS) ## feed the fuzz corpora to the fuzz targets, once
	@for name in $(FUZZ); do timeout -k 10 120 \
		$(BUILD)/replay-$$name tests/fuzz/corpus/$$name || exit 1; done
fuzz: ## look for new inputs (FUZZ="msg hub" FUZZ_SECONDS=60)
	@$(STILL) $(VARIANT) BUILD=build/fuzz \
		SAN="$(ASAN) -fsanitize=fuzzer-no-link" run-fuzz
run-fuzz: $(FUZZ:%=$(BUILD)/fuzz-%)
	@for name in $(FUZZ); do \
		mkdir -p $(BUILD)/corpus/$$name tests/fuzz/corpus/$$name && \
		$(BUILD)/fuzz-$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
			-artifact_prefix=$(BUILD)/$$name- -print_final_stats=1 \
			$(BUILD)/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done

bench: all $(BENCHES) ## how fast it is: docs/performance.md (BENCH_ROUNDS=5)
	@STAR_BUILD=$(BUILD) CC="$(CC)" tools/bench

race: all ## starswitch and its peers from PyTorch: docs/race.md (RACE=--help)
	@STAR_BUILD=$(BUILD) bench/python/race $(RACE)

CHAOS_TIME ?= 3600
chaos: all programs-for-checks ## faults of all kinds, judged (CHAOS_SEED=1)
	@STAR_BUILD=$(BUILD) CHAOS_TIME=$(CHAOS_TIME) tests/e2e/chaos.sh
hub-kills: all programs-for-checks ## 300 kills of the hub, judged
	@STAR_BUILD=$(BUILD) tests/e2e/chaos.sh hub-kills
	@STAR_BUILD=$(BUILD) tests/e2e/counted.sh long


ATTACK_TIME ?= 1800
ATTACK_FRAMES ?= 10000000
attack: all programs-for-checks ## hostile peers, long (ATTACK_TIME=1800)
	@STAR_BUILD=$(BUILD) SECONDS_EACH=$(ATTACK_TIME) \
		FRAMES=$(ATTACK_FRAMES) SEED=$${ATTACK_SEED:-1} \
		tests/e2e/hostile_frames.sh
	@STAR_BUILD=$(BUILD) tests/e2e/hostile_members.sh long

convergence: ## how well it learns, in virtual time: convergence.md, untuned.md
	@tools/install build demo
	@$(MAKE) --no-print-directory -j$(JOBS) $(CONVERGENCE)
	@$(CONVERGENCE) --folder $(BUILD)/convergence \
		--output docs/convergence.md
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@PYTHONPATH=bench/python STAR_BUILD=$(BUILD) python3 -m untuned

picture: demo ## README's picture and the page's: docs/demo.svg, page.svg
	@tools/picture demo/report.html >docs/demo.svg
	@STAR_BUILD=$(BUILD) tools/page-picture >docs/page.svg

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' Makefile | \
		while read -r name words; do \
			printf '  make %-12s %s\n' "$$name" "$$words"; done

.PHONY: all attack deb deb-check container-check wheel-check examples install \
	uninstall deps demo demo-python \
	check check-c check-slow test python-check python-step python-venv \
	programs-for-checks scripts gate $(GATE) format docs variants \
	sanitize tsan valgrind valgrind-check coverage replay fuzz run-fuzz \
	bench race chaos hub-kills convergence picture clean help
.SECONDARY:
.DELETE_ON_ERROR:

-include $(SOURCES:%.c=$(BUILD)/%.d)
