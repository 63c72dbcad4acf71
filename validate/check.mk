# check.mk - everything that checks: tests, rules on sources, benchmarks. A part of the Makefile.

##> Checks: check for the loop of a day, gate before a change lands, nightly for what takes hours
.PHONY: check gate nightly
# What the steps of check.sh need to know.
CHECK = env BUILD=$(call quoted,$(BUILD)) PREFIX=$(call quoted,$(PREFIX)) REPORT=$(call quoted,$(REPORT)) CC=$(call quoted,$(CC)) \
        CPPFLAGS=$(call quoted,$(OUR_CPPFLAGS)) MAKE_COMMAND=$(call quoted,$(MAKE_COMMAND)) V='$(V)' sh validate/tools/check.sh

check: deps-check ## what a newcomer runs: fast suites, texts and figures of whole commands, README's commands, rules on sources; four minutes
	@$(DEPS_SH) docs
	$(Q)$(SUBMAKE) PROFILE=release all test-program
	$(Q)$(CHECK) check

gate: deps-check ## what a change must pass: check, slow suites, sanitizers, fuzzing, kills, pages, Python, installing; twelve minutes
	@$(DEPS_SH) docs
	@$(DEPS_SH) cluster
	@$(DEPS_SH) python
	@$(DEPS_SH) browser || :
	$(Q)$(SUBMAKE) PROFILE=release all test-program $(BUILD)/release/dies.so
	$(Q)$(SUBMAKE) PROFILE=asan test-program fuzz-programs
	$(Q)$(CHECK) check gate

DIST_COMPILERS = gcc clang
DIST_PROFILES = release debug asan tsan
nightly: gate ## gate, then full-size suites in every profile of gcc and clang, valgrind, Slurm, 1,000 machines, recipes, derived texts; hours
	@$(DEPS_SH) dev
	@$(DEPS_SH) live || :
	$(Q)set -e; for cc in $(DIST_COMPILERS); do for profile in $(DIST_PROFILES); do \
		echo "$$cc $$profile"; \
		$(SUBMAKE) BUILD=$(BUILD)/dist/$$cc PROFILE=$$profile CC=$$cc all test-program; done; done
	$(Q)$(CHECK) nightly $(foreach c,$(DIST_COMPILERS),$(foreach p,$(DIST_PROFILES),$c/$p))

.PHONY: golden golden-update figures figures-update check-report report-shots check-live check-python check-same kills recipes mutants stale
GOLDEN = $(NPUSIM_HERE) sh $T/golden/run.sh
golden: all ## whole commands: keys, units, order, words and exit codes, compared with validate/tests/golden/*.out
	$(Q)$(GOLDEN) --tier nightly
golden-update: all ## rewrite those texts from this build; look at the diff before a commit
	$(Q)$(GOLDEN) --update --tier nightly
FIGURES = $(NPUSIM_HERE) python3 validate/tools/figures.py
figures: all ## the figures that matter, compared with validate/figures.csv
	$(Q)$(FIGURES) check
figures-update: all ## write this build's figures into validate/figures.csv
	$(Q)$(FIGURES) --update

PAGE_TEST = env $(NPUSIM_HERE) REPORT=$(call quoted,$(REPORT)) BUILD=$(call quoted,$(BUILD)) MAKE_COMMAND=$(call quoted,$(MAKE_COMMAND)) sh $T/page
check-report: all ## the page of npusim report in a real browser: charts, brush, themes, names of strangers (a part of gate)
	$(Q)$(PAGE_TEST)/run.sh nightly
check-live: live ## the page of npusim page in a real browser, 200 moves held against the program
	$(Q)$(PAGE_TEST)/live.sh
report-shots: all ## pictures of its charts anew, into results/examples
	$(Q)$(PAGE_TEST)/run.sh shots
check-python: all ## results/python beside the program: random machines to the byte, faults, searches, the notebook (a part of gate)
	@sh validate/tools/python.sh nightly $B
MACHINES = 1000
check-same: live ## MACHINES random machines: command line, library, Python and WebAssembly the same to the byte (a few in gate)
	@CC=$(call quoted,$(CC)) sh $T/same/same.sh $(MACHINES) $B
KILLS = 100
SEED = 1
kills: all $B/dies.so ## kill commands that write at 100 moments, and look at what is left (KILLS=N, SEED=N; V=1: a line a kill)
	@V='$(V)' sh validate/tools/kills.sh $(KILLS) $B/npusim $B/dies.so $(SEED)
recipes: all test-program ## each "how to add" of the READMEs applied to a toy, and what it promises run
	$(Q)BUILD=$(call quoted,$(BUILD)) sh validate/tools/recipes.sh
mutants: ## plant 250 faults one at a time; which of them do check and gate catch? (hours; MUTANTS="-n 60 --minutes 30")
	$(Q)python3 validate/tools/mutants.py $(MUTANTS)
stale: all ## which derived texts (configs/accuracy, ACCURACY.md, CLAIMS.md, results/studies) this build would write anew
	$(Q)python3 validate/tools/stale.py "$$PWD/$B/npusim" --all

.PHONY: layers calls picture links headers format check-format
layers: ## who may include whom (validate/layers.txt), and no circle of modules
	@sh validate/tools/layers.sh validate/layers.txt
calls: all ## the same of what the compiled files use of each other; V=1: circles inside modules too
	@V='$(V)' sh validate/tools/calls.sh validate/layers.txt $B
picture: ## the levels of the code and their arrows; drawn in build/layers.svg where graphviz is installed
	@sh validate/tools/layers.sh --picture validate/layers.txt
	@if command -v dot >/dev/null 2>&1 && command -v tred >/dev/null 2>&1; then \
		mkdir -p $(BUILD) && sh validate/tools/layers.sh --dot validate/layers.txt | tred | dot -Tsvg -o $(BUILD)/layers.svg && \
			echo && echo "drawn in $(BUILD)/layers.svg"; fi
links: ## links and file names in documents and comments lead somewhere
	@sh validate/tools/links.sh
headers: deps-check ## every header compiles alone
	@CC=$(call quoted,$(CC)) CPPFLAGS=$(call quoted,$(OUR_CPPFLAGS)) sh validate/tools/headers.sh
FORMATTED = $(shell git ls-files '*.c' '*.h')
format: ## write .c and .h files as .clang-format says
	$(Q)sh validate/tools/format.sh apply $(FORMATTED)
check-format: ## they are written so, where that version of clang-format is installed
	@sh validate/tools/format.sh check $(FORMATTED)

.PHONY: fuzz coverage bench bench-update
fuzz: deps-check ## libFuzzer (clang) on each reader for FUZZ_SECONDS; else the standalone mutator
	$(Q)if $(DEPS_SH) fuzz; then $(SUBMAKE) PROFILE=fuzz CC=clang fuzz-programs && \
		BUILD=$(call quoted,$(BUILD)) FUZZ_SECONDS='$(FUZZ_SECONDS)' sh validate/tools/fuzz.sh libfuzzer $(call quoted,$(BUILD)/fuzz/npusim-fuzz); else \
		$(SUBMAKE) PROFILE=asan fuzz-programs && sh validate/tools/fuzz.sh 100000 $(call quoted,$(BUILD)/asan/npusim-fuzz); fi
coverage: deps-check ## lines of each source file that the suites reach
	$(Q)$(SUBMAKE) PROFILE=cov test-program
	$(Q)BUILD=$(call quoted,$(BUILD)) sh validate/tools/coverage.sh $(LIB_SRC)
BENCHED = $(addprefix $(BUILD)/release/,rusage b_dram b_step)
bench: deps-check ## events and steps per second, instructions per event, import rate, peak memory
	$(Q)$(SUBMAKE) PROFILE=release all $(BENCHED)
	$(Q)BUILD=$(call quoted,$(BUILD)) sh $T/bench/bench.sh
bench-update: deps-check ## the same, and makes the counts the new baseline
	$(Q)$(SUBMAKE) PROFILE=release all $(BENCHED)
	$(Q)BUILD=$(call quoted,$(BUILD)) sh $T/bench/bench.sh --update
