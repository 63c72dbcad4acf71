# Makefile - builds libnpusim and npusim, and runs everything that checks them. `make help` lists the targets.
#
# Sources are found by folder: a new .c file is compiled, a new suite is run. Objects and programs of a profile are in
# build/$(PROFILE)/. A change of compiler or flags rebuilds what depends on them. Warnings are errors; WERROR= turns that
# off. The user's CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are appended to ours. Four parts are included at the end.

PROFILE = release
BUILD   = build
PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
WERROR  = -Werror
FUZZ_SECONDS = 60

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# --- sources ------------------------------------------------------------------------------------------------------
in = $(sort $(wildcard $(addsuffix /*.c,$(1))))
T = validate/tests

# sim/live holds the page's module, which only the WebAssembly build has, beside what the program writes pages with.
LIVE = $(addprefix sim/live/,live.c live_yaml.c live_memory.c)
PROGRAM_SRC = sim/main.c $(call in,sim/cli)
LIB_SRC = $(filter-out $(PROGRAM_SRC) $(LIVE) $(call in,sim/examples traces/capture), \
            $(call in,sim/* arch arch/* workloads workloads/model traces/* results results/*))
SUITE_SRC = $(call in,$T/unit $T/contract $T/model $T/property)
TEST_SRC = $(filter-out $T/dies.c,$(call in,$T)) $(SUITE_SRC)
SUITES = $(basename $(notdir $(SUITE_SRC)))
FUZZ_SRC = $(wildcard $T/fuzz/f_*.c)
# Objects of the program that fuzz targets need.
FUZZ_NEEDS = study_commands cmd
TOOL_SRC = sim/fingerprint.c $T/fuzz/targets.c $T/fuzz/standalone.c $(call in,$T/bench)

# --- profiles -----------------------------------------------------------------------------------------------------
OPT_release = -O2 -DNDEBUG
OPT_debug   = -Og -g3
OPT_asan    = -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_tsan    = -O1 -g -fsanitize=thread
OPT_cov     = -O0 -g --coverage
OPT_fuzz    = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# Suites spend their time in the library they call, so compiling them fast is worth more than fast code.
OPT_suite_release = -O1
OPT_suite_asan    = -O0
OPT_library = -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
ifeq ($(OPT_$(PROFILE)),)
$(error PROFILE=$(PROFILE) is not one of release, debug, asan, tsan, cov)
endif

# --- tools and flags ----------------------------------------------------------------------------------------------
ifeq ($(origin CC),default)
CC = cc
endif
ifeq ($(origin AR),default)
AR = ar
endif
ifeq ($(origin LD),default)
LD = ld
endif
OBJCOPY = objcopy
INSTALL = install
# A word for the shell, whatever is in it; and a string for C inside such a word.
quoted = '$(subst ','\'',$(1))'
c_string = $(call quoted,"$(subst ",\",$(subst \,\\,$(1)))")
DEPS_SH = env CC=$(call quoted,$(CC)) CPPFLAGS=$(call quoted,$(CPPFLAGS)) CFLAGS=$(call quoted,$(CFLAGS)) \
          LDFLAGS=$(call quoted,$(LDFLAGS)) sh validate/tools/deps.sh

B = $(BUILD)/$(PROFILE)
# Found when first used, after `deps-check` has installed what was missing.
LIB_CFLAGS = $(eval LIB_CFLAGS := $$(shell $$(DEPS_SH) cflags))$(LIB_CFLAGS)
LIB_LIBS   = $(eval LIB_LIBS := $$(shell $$(DEPS_SH) libs))$(LIB_LIBS)
OUR_CPPFLAGS = -I. -D_POSIX_C_SOURCE=200809L $(LIB_CFLAGS) $(CPPFLAGS)
# The shared library and the programs are made of the same objects: position-independent, names hidden.
OUR_CFLAGS = -std=c11 -Wall -Wextra -Wpedantic -ffp-contract=off $(OPT_library) $(WERROR) $(OPT_$(PROFILE)) $(OPT_OF) $(CFLAGS)
OUR_LIBS = $(LIB_LIBS) -lm $(LDLIBS)
ROOTS = -DNPUSIM_ROOT=$(call c_string,$(CURDIR)) -DNPUSIM_SHARE=$(call c_string,$(PREFIX)/share/npusim) \
        -DNPUSIM_LIB=$(call c_string,$(LIBDIR)/npusim)
VERSION = $(shell sed -n 's/^.define NPUSIM_VERSION "\(.*\)".*/\1/p' sim/base/version.h)
SO_MAJOR = $(firstword $(subst ., ,$(VERSION)))
# The shared library exports the names of sim/npusim.h. On Darwin there is only the static library, with all names.
SO = $(if $(filter Darwin,$(shell uname -s)),,libnpusim.so.$(VERSION))
API_NAMES = $(shell sed -n 's/^NPUSIM_API .*[ *]\(npusim_[a-z_]*\)[^a-z_ *;].*/\1/p' sim/npusim.h)

space := $(subst ,, )
ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say := @printf '  %-4s %s\n'
endif
# For targets that build several profiles, and for newcomers: all cores, unless -j was given.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))
SUBMAKE = $(MAKE) --no-print-directory $(PARALLEL) DEPS=ok REPORT=$(call quoted,$(REPORT))
# The program by a path that holds in any folder.
NPUSIM_HERE = NPUSIM="$$PWD/$B/npusim"

LIB_OBJ = $(LIB_SRC:%.c=$B/%.o)
PROGRAM_OBJ = $(PROGRAM_SRC:%.c=$B/%.o) $B/results/report/embed.o
TEST_OBJ = $(TEST_SRC:%.c=$B/%.o)
FUZZ_BIN = $B/npusim-fuzz
SOURCES = $(LIB_SRC) $(PROGRAM_SRC) $(TEST_SRC) $(FUZZ_SRC) $(TOOL_SRC)

##> What to build
.PHONY: all test-program fuzz-programs FORCE
all: $B/npusim $B/libnpusim.a $(SO:%=$B/%) ## the program and the library, in build/$(PROFILE)/

test-program: $B/npusim-test ## all unit, contract, model and property suites as one program
fuzz-programs: $(FUZZ_BIN)
	@:

# The whole library, for our own programs and tests.
$B/core.a: $(LIB_OBJ) $B/.library
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# The library as others see it: what is reached from sim/npusim.h, and no other name.
$(SO:%=$B/%): $B/core.a sim/npusim.map sim/npusim.h
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libnpusim.so.$(SO_MAJOR) -Wl,--version-script=sim/npusim.map \
		-Wl,--gc-sections -Wl,--as-needed $(API_NAMES:%=-Wl,-u,%) -o $@ $B/core.a $(OUR_LIBS)
	$(Q)ln -sf $(SO) $B/libnpusim.so.$(SO_MAJOR) && ln -sf $(SO) $B/libnpusim.so
$B/libnpusim.a: $B/core.a sim/npusim.h
	$(say) AR $@
	$(Q)$(if $(SO),$(LD) -r --gc-sections $(API_NAMES:%=-u %) -o $B/npusim.o $B/core.a && \
		$(OBJCOPY) --localize-hidden $B/npusim.o && rm -f $@ && $(AR) rcs $@ $B/npusim.o,cp $B/core.a $@)

# Programs: their objects, then the whole library.
link = $(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(OUR_LIBS)
$B/npusim: $(PROGRAM_OBJ)
$B/npusim-test: $(TEST_OBJ)
$B/b_dram: $B/$T/bench/b_dram.o
$B/b_step: $B/$T/bench/b_step.o
$B/npusim $B/npusim-test $B/b_dram $B/b_step: $B/core.a
	$(say) LD $@
	$(Q)$(link)

# In profile fuzz libFuzzer brings main(), else the standalone mutator does.
FUZZ_MAIN = $(if $(filter fuzz,$(PROFILE)),,$B/$T/fuzz/standalone.o)
$(FUZZ_BIN): $(FUZZ_SRC:%.c=$B/%.o) $B/$T/fuzz/targets.o $(FUZZ_NEEDS:%=$B/sim/cli/%.o) $(FUZZ_MAIN) $B/core.a
	$(say) LD $@
	$(Q)$(link) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer)

$B/rusage: $B/$T/bench/rusage.o
	$(say) LD $@
	$(Q)$(link)
# Preloaded by the test that kills commands.
$B/dies.so: $T/dies.c $B/.flags
	$(say) LD $@
	$(Q)$(CC) -std=c11 -Wall -Wextra -Wpedantic $(WERROR) -O2 -fPIC -shared $(LDFLAGS) -o $@ $< -ldl

# Eight hundred of them: the message costs no process of its own, and folders are made once (.flags).
$B/%.o: %.c $B/.flags
	$(if $(Q),$(info $(space)$(space)CC$(space)$(space) $<))
	$(Q)$(CC) $(OUR_CPPFLAGS) $(EXTRA) $(OUR_CFLAGS) -MMD -MP -c -o $@ $<
$(SUITE_SRC:%.c=$B/%.o): private OPT_OF = $(OPT_suite_$(PROFILE))
$(SUITE_SRC:%.c=$B/%.o): $B/.suite_flags

# What only some objects know, so that only they are rebuilt when it changes.
ROOTED = $B/sim/base/path.o $B/sim/api/api.o $B/$T/main.o
$(ROOTED): EXTRA = $(ROOTS) -I$B
$(ROOTED): $B/.roots
$B/$T/main.o: $B/suites.inc
BUILT_FROM = -DNPUSIM_COMMIT='"$(shell cat $B/.commit)"'
$B/sim/base/version.o: EXTRA = $(BUILT_FROM) -DNPUSIM_PROFILE='"$(PROFILE)"'
$B/sim/base/version.o: $B/.commit
FINGERPRINT = -DNPUSIM_GPU_MODEL='"$(shell cat $B/.gpu_model)"'
$B/sim/base/fingerprint.o: EXTRA = $(FINGERPRINT)
$B/sim/base/fingerprint.o: $B/.gpu_model

# --- stamps: files that change only when their text does ----------------------------------------------------------
write_if_changed = mkdir -p $(@D) && { printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@; }

$B/.flags: FORCE | deps-check
	@mkdir -p $(sort $(dir $(SOURCES:%=$B/%))) $B/results/report
	@$(call write_if_changed,$(call quoted,$(CC) $(OUR_CPPFLAGS) $(OUR_CFLAGS)))
$B/.suite_flags: FORCE
	@$(call write_if_changed,$(call quoted,$(OPT_suite_$(PROFILE))))
$B/.roots: FORCE
	@$(call write_if_changed,$(call quoted,$(ROOTS)))
$B/.library: FORCE
	@$(call write_if_changed,$(LIB_OBJ))
$B/suites.inc: FORCE
	@$(call write_if_changed,$(foreach s,$(SUITES),'SUITE_ROW($s)'))
# "unknown" outside git, or where the tree only lies inside another one.
$B/.commit: FORCE
	@commit=unknown; \
	if [ -z "$$(git rev-parse --show-prefix 2>/dev/null)" ] && id=$$(git rev-parse --short=12 HEAD 2>/dev/null); then \
		commit=$$id; [ -z "$$(GIT_OPTIONAL_LOCKS=0 git status --porcelain -uno)" ] || commit=$$id+dirty; \
	fi; \
	$(call write_if_changed,"$$commit")

# What the GPU model answers (sim/accuracy/behaviour.h), as a hash. A program of the model's objects alone computes it.
MODEL_OBJ = $(filter-out $B/sim/base/fingerprint.o,$(filter $(addprefix $B/,sim/base/% arch/% workloads/% traces/% sim/lower/% \
              sim/accuracy/cases% sim/accuracy/behaviour%),$(LIB_OBJ)))
MODEL_DATA = configs/gpu/h200.yaml configs/dram/hbm3-6400.yaml $(wildcard configs/kernels/*.yaml configs/rules/*.yaml configs/cases/*.yaml)
$B/model.a: $(MODEL_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $(MODEL_OBJ)
$B/fingerprint: $B/sim/fingerprint.o $B/model.a
	$(say) LD $@
	$(Q)$(link)
$B/.gpu_model: $B/fingerprint $(MODEL_DATA)
	$(Q)$B/fingerprint >$@.new && mv $@.new $@

-include $(wildcard $(SOURCES:%.c=$B/%.d))

##> What a newcomer wants
.PHONY: demo deps deps-dev deps-check
DEMO = $(BUILD)/demo
NPUSIM = $(BUILD)/release/npusim
# Shows a command as it would be typed, then runs it. One with commas is a variable first.
show = @printf '\n$$ %s\n' $(call quoted,$(1)); $(1)
RTX_STEP = $(NPUSIM) run -c configs/npu/dsocr.yaml -t traces/rtx5090/dsocr.yaml --ops 0
RTX_TOTALS = $(RTX_STEP) | sed -n "/^workload/p; /^replay/p; /^total/,/^$$/p"

demo: deps-check ## replay a measured decode step on the NPU of configs/npu/dsocr.yaml, and compare
	$(Q)$(SUBMAKE) PROFILE=release all
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(call show,$(NPUSIM) trace import traces/h200/kineto_dsocr_b1_c1024.json.gz --wall 11.34ms -o $(DEMO)/trace.db)
	$(call show,$(NPUSIM) trace top -n 12 $(DEMO)/trace.db)
	$(call show,$(NPUSIM) run -c configs/npu/dsocr.yaml -t $(DEMO)/trace.db --range decode_step_1 -o $(DEMO)/results.db)
	$(call show,$(RTX_TOTALS))
	$(call show,$(RTX_STEP) --context 472 | grep "^simulated  ")
	$(call show,$(RTX_STEP) --context 1890 | grep "^simulated  ")

deps: ## install the libraries, the compiler, npm, rsvg-convert and what tests ask (root on Debian), or print the command that does
	@$(DEPS_SH) need && $(DEPS_SH) plot && $(DEPS_SH) page && $(DEPS_SH) docs && echo "everything npusim needs is here:" && $(DEPS_SH) list
deps-dev: deps ## the same for nightly and fuzz: clang with sanitizers and libFuzzer, valgrind
	@$(DEPS_SH) dev && echo "everything make nightly needs is here"
deps-check:
ifneq ($(DEPS),ok)
	@$(DEPS_SH) need
endif

include results/report/page.mk validate/check.mk validate/measured.mk validate/cuda/cuda.mk sim/install.mk

##> Housekeeping
.PHONY: clean help
clean: ## remove build/
	$(Q)rm -rf $(BUILD)

help: ## this list
	@awk -F':.*## ' '/^##>/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables: PROFILE=release|debug|asan|tsan|cov  CC=...  V=1 (show commands)  WERROR= (warnings are no errors)  FUZZ_SECONDS=60\n           NPUSIM_TEST_SIZE=short|usual|long (samples of random suites)  NPUSIM_SEED=N (which ones)\n'
