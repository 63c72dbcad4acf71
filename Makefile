# Makefile - builds libnpusim and npusim, and runs everything that checks them. `make help` lists the targets.
#
# Objects and programs of a profile are in build/$(PROFILE)/. Sources are listed, not found: a file in no list fails
# `make sources`, which is a part of `make check`. A change of compiler or flags rebuilds what depends on them.
# The user's CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS are appended to ours.

PROFILE = release
BUILD   = build
PREFIX  = /usr/local
LIBDIR  = $(PREFIX)/lib
DESTDIR =
FUZZ_SECONDS = 60

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# --- sources, by folder and in the order of the layers ------------------------------------------------------------
BASE = err arena pages str hash rng clock \
       evq stat inputs out_json yaml yaml_json json re cfg cfg_value cfg_yaml db expr path source source_root version temp newfile pool
WORKLOADS = dtype experts kernel_type quant op op_text work place shape_args shape_move shape_product shape_rows shape known listed listed_shape rules rules_load
MODEL_OF = model_arch model_read model_check model_extra model_find scheme count
POWER = energy tech area
LINK = link_cfg link
MEM = memq memslot dram_cfg dram_tile_piece dram_tile dram_map \
      dram_cmd_table dram_cmd_dev dram_cmd_pick dram_cmd_queue dram_cmd dram_fixed dram \
      cache_tags cache_tags_run cache_lru cache_rrip cache_srrip cache_drrip cache_kv_aware cache_seen cache_walk cache l1 l2 \
      l2_none kv bw_server noc noc_shape memory memory_alone
# A compute unit is a row of arch/units.h, a file and a test, all of its name.
UNITS := $(shell sed -n 's/^.X.[A-Z0-9]*, *\([a-z0-9_]*\),.*/\1/p' arch/units.h)
NPU = sram dma fusion unit partition unit_issue $(UNITS:%=unit_%) npu_power core core_explain cp
GPU = occupancy host gpu_cfg gpu_math gpu_plain gpu_flow gpu_product gpu_mma gpu_grouped gpu_stripe gpu_attention gpu_flash gpu_stream gpu_rows \
      gpu_chain gpu_walk gpu gpu_activity gpu_power kernels gpu_traffic gpu_work gpu_geometry \
      gpu_geometry_attend
TILED = tiled_cfg tiled_cost tiled_time tiled_shipped
MACHINE = machine_attention machine_die machine_cost machine_cfg machine_area machine_peak machine_ceiling machine_techs machine_power machine_conf machine_gpu machine_shipped
TRACE_TEXT = decimal input csv measure
TRACE_DB = trace_args intern idmap nest tracedb tracedb_text tracedb_stat tracedb_mark tracedb_link tracedb_write tracedb_range \
           tracedb_sum tracedb_launch tracedb_group tracedb_piece tracedb_read
TRACE_READ = kineto kineto_args kineto_event nsys nsys_file nsys_host nsys_csv ncu_csv counters_csv cuda_names nvtx_view nvtx_op \
             capture_spool capture_import recording replay replay_file ops_csv shaped columns tt_csv ascend_csv rocprof_csv hlo_text xplane_json format
RESULTS = res res_figure res_rows res_read res_sweep res_sweep_read res_adopt res_merge res_export
PLOT = plot draw
LOWER = lower lower_part lower_types lower_listed lower_pick lower_tensors lower_route lower_name lower_check
ALIGN = align align_anchor align_name align_lay align_size align_stock align_walk align_args align_engine align_experts align_propose align_text align_val
BUILT = attend build build_stream build_ops build_kernel build_attend build_attention build_latent build_linear build_mlp build_experts \
        build_picks build_split build_stages build_ggml build_vision build_name build_table scale scale_experts scale_launch
WORKLOAD = measured measured_spread workload_rows workload_model workload_lay workload_read request mix
REWRITE = rewrite rewrite_kv rewrite_cast
MAP = fuse map map_like map_mask map_math map_attention map_collective map_chain map_horizontal map_coschedule map_subset map_partition \
      map_reuse map_reuse_preloaded map_stationary map_footprint map_lower_bound map_bound map_remainder map_nest map_nest_emit \
      map_candidate map_predict map_evaluate map_memo map_cost map_search map_choose map_tile map_block map_blocks
PROGRAM_OF = program_fields program_base program_words program_remainder program_read program_make program_check program_least program_write
ENGINE = machine gpu_baseline gpu_l2_form analytic analytic_memory analytic_repeat analytic_residency analytic_sample analytic_server evaluator run_result run_memo picks \
         pass pass_count pass_energy pass_clock roofline real diag run_chips run_stages engine_event engine_analytic engine_gpu engine run
SERVE = arrive arrive_list arrive_lines arrive_make preset sched sched_blocks sched_pool cost steps latency serve_kept serve serve_memory serve_pools serve_options serve_options_read capacity raise curve traffic
STUDY = split limits limits_moves limits_pairs limits_run marginal ablate ablate_changes ablate_run ablate_verdict ablate_court \
        sweep_workload sweep_mix sweep_axis sweep_names sweep_expr sweep_points sweep_load sweep_hash sweep_pipe sweep_run sweep_search \
        sweep_view sweep_promising study experiment_agree experiment_read experiment_run experiment_values
DESIGN_OF = design_goal design_eval design_model design_space design_search design_events design_why design knobs
PROFILE_OF = classify counters roof bound hist gaps stages stalls sums waves simulated review review_names diff
REPORT_OF = chakra doc lay_time labels series figure_doc listed_doc cfg_doc model_doc ops_doc kernel_doc \
            run_verdict run_members run_facts run_ops run_mapping run_align run_rewrite types_doc run_store run_sum run_energy run_fusion run_table run_trust \
            baseline difference eval launches staged staged_store staged_doc job job_machines capacity_doc pools_doc serve_doc serve_range serve_page serve_timeline timeline chrome chrome_trace \
            top_doc hist_doc diff_doc gaps_doc stages_doc stalls_doc waves_doc counters_doc review_doc roofline_doc bound_doc peaks_doc \
            score_doc samples_doc rows_doc energy_doc rates_doc fit_doc error_chart probe_dram_doc probe_mem_doc probe_link_doc \
            compare_doc compare_doc_sums kinds limits_doc design_doc machines_doc limits_store ablate_doc forced_doc points_doc explain \
            sweep_doc sweep_again_doc sweep_chart study_doc experiment_doc \
            packed page page_said page_run page_machine page_sweep page_curves design_explain design_page ablate_explain
API = api api_machine api_work api_eval api_limits
LIVE_OF = live_pack live_page
UI = screen number out out_html out_sql shells outfile opt opt_help opt_jobs inner opt_files opt_man opt_complete progress
ACCURACY_OF = cases cases_clock picks tables tables_ops tables_experts rows blocks score accuracy silicon interval interval_family interval_pair interval_totals \
              energy energy_count energy_step energy_score fit fit_plan fit_energy fit_rows rates_map rates_run \
              probe_dram probe_dram_tile probe_dram_tiles probe_dram_ref probe_mem probe_curve probe_forced probe_tiled probe_link
CLI = cmd topics completion completion_kinds man export export_chakra explain report page \
      ops_table ops_rows workloads workload_options workload_build workload_attend rates \
      run serve serve_answer compare limits ablate design design_answer \
      config config_list config_check config_explain config_tech config_area config_cost config_rows config_peaks \
      sweep mixed sweep_inputs sweep_announce sweep_show merge pareto study study_commands study_files \
      gpu gpu_energy validate validate_gpu validate_profile validate_counters validate_ops validate_totals \
      calibrate calibrate_energy calibrate_rows \
      probe probe_dram probe_mem probe_link probe_kernel probe_kernel_table probe_kernel_beside \
      plot picture plot_breakdown plot_error plot_fidelity plot_latency plot_link plot_serve plot_sweep plot_study \
      trace trace_import trace_notes trace_record trace_top trace_by trace_ops trace_classify trace_roofline trace_hist trace_gaps \
      trace_stages trace_waves trace_stalls trace_diff trace_export trace_review bound

# --- tests: the name without folder and prefix; each file is one suite of the same name ---------------------------
UNIT     = err arena pages str hash_rng clock evq stat yaml re cfg db expr path newfile pool out doc number opt json sample \
           tracedb tracedb_file tracedb_link tracedb_old kineto kineto_files nsys capture csv profile_csv replay ops_csv foreign counters_csv samples \
           review classify gaps stages stalls sums waves simulated bound \
           rules rules_names shape listed quant op work model lower lower_steps stock types align build split attend step scale rewrite \
           workload request staged program \
           occupancy tiled gpu gpu_forms kernels power npu_power energy tech area link host sram partition $(UNITS:%=unit_%) unit_issue \
           memq dram dram_cmd l1 l2 cache_run l2_policy l2_exact kv noc cp mechanisms \
           machine engine gpu_baseline gpu_l2_form diag fuse map coschedule map_attention analytic figure op_figure \
           validate geometry tables rows interval blocks silicon probe_mem probe_curve probe_forced \
           api arrive sched sched_pool serve sweep limits ablate experiment res res_old res_share plot timeline chakra
CONTRACT = memory
MODEL    = run npu pays dram
PROPERTY = memory run design model energy more reuse nest step analytic sweep gpu cycle cores doubt link split
# Test code that is no suite: fixtures and twins the suites share.
SUPPORT  = synth membed runbed systolic cyclebed
# Of the commands, what suites look at, and fuzz targets.
SEEN     =
SEEN_study  = study_commands cmd
FUZZ     = yaml api kineto csv nsys capture replay ops program requests serve study model kernels tiled beside foreign links

# Sources that other rules or other machines build.
EXAMPLES = $(wildcard sim/examples/*.c)
LIVE = sim/live/live.c sim/live/live_yaml.c sim/live/live_memory.c
ELSEWHERE = $(LIVE) traces/capture/capture.c validate/tests/dies.c validate/tests/same/library.c $(EXAMPLES)

# From the ground up; arch/isa, arch/res, results/figure and op_figure are plain data that all of them share.
LIB_SRC = $(BASE:%=sim/base/%.c) arch/isa.c arch/res.c results/figure.c results/op_figure.c $(WORKLOADS:%=workloads/%.c) \
          $(MODEL_OF:%=workloads/model/%.c) $(POWER:%=arch/power/%.c) $(LINK:%=arch/link/%.c) $(MEM:%=arch/mem/%.c) \
          $(NPU:%=arch/npu/%.c) $(GPU:%=arch/gpu/%.c) $(TILED:%=arch/tiled/%.c) $(MACHINE:%=arch/machine/%.c) \
          $(TRACE_TEXT:%=traces/text/%.c) $(TRACE_DB:%=traces/db/%.c) $(TRACE_READ:%=traces/read/%.c) $(RESULTS:%=results/db/%.c) \
          $(PLOT:%=results/plot/%.c) $(LOWER:%=sim/lower/%.c) $(ALIGN:%=sim/align/%.c) $(BUILT:%=sim/build/%.c) \
          $(REWRITE:%=sim/rewrite/%.c) $(MAP:%=sim/map/%.c) $(PROGRAM_OF:%=sim/program/%.c) $(ENGINE:%=sim/engine/%.c) \
          $(WORKLOAD:%=sim/workload/%.c) $(SERVE:%=sim/serve/%.c) $(STUDY:%=sim/study/%.c) $(PROFILE_OF:%=sim/profile/%.c) $(DESIGN_OF:%=sim/design/%.c) \
          $(REPORT_OF:%=sim/report/%.c) $(UI:%=sim/ui/%.c) $(ACCURACY_OF:%=sim/accuracy/%.c) $(API:%=sim/api/%.c) \
          $(LIVE_OF:%=sim/live/%.c)
PROGRAM_SRC = sim/main.c $(CLI:%=sim/cli/%.c)
SUITES = $(UNIT:%=t_%) $(CONTRACT:%=c_%) $(MODEL:%=m_%) $(PROPERTY:%=p_%)
T = validate/tests
SUITE_SRC = $(UNIT:%=$T/unit/t_%.c) $(CONTRACT:%=$T/contract/c_%.c) $(MODEL:%=$T/model/m_%.c) \
            $(PROPERTY:%=$T/property/p_%.c)
TEST_SRC = $T/main.c $(SUPPORT:%=$T/%.c) $(SUITE_SRC)
FUZZ_SRC = $(FUZZ:%=$T/fuzz/f_%.c)
TOOL_SRC = $T/fuzz/standalone.c $T/bench/rusage.c $T/bench/b_dram.c $T/bench/b_step.c
LISTED = $(LIB_SRC) $(PROGRAM_SRC) $(TEST_SRC) $(FUZZ_SRC) $(TOOL_SRC) $(ELSEWHERE)

# --- profiles -----------------------------------------------------------------------------------------------------
OPT_release = -O2 -DNDEBUG
OPT_debug   = -Og -g3
OPT_asan    = -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_tsan    = -O1 -g -fsanitize=thread
OPT_cov     = -O0 -g --coverage
OPT_fuzz    = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# Of suites, a quarter of the lines: their time is that of the library they call, and of twins (SUPPORT), which are as above.
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
DEPS_SH = env CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' sh validate/tools/deps.sh

B = $(BUILD)/$(PROFILE)
# Found when first used, that is after `deps-check` has installed what was missing.
LIB_CFLAGS = $(eval LIB_CFLAGS := $$(shell $$(DEPS_SH) cflags))$(LIB_CFLAGS)
LIB_LIBS   = $(eval LIB_LIBS := $$(shell $$(DEPS_SH) libs))$(LIB_LIBS)
OUR_CPPFLAGS = -I. -D_POSIX_C_SOURCE=200809L $(LIB_CFLAGS) $(CPPFLAGS)
# Position-independent and hidden: the shared library and the programs are made of the same objects.
OUR_CFLAGS = -std=c11 -Wall -Wextra -Wpedantic -ffp-contract=off $(OPT_library) $(if $(WERROR),-Werror) $(OPT_$(PROFILE)) $(OPT_OF) $(CFLAGS)
OUR_LIBS = $(LIB_LIBS) -lm $(LDLIBS)
ROOTS = -DNPUSIM_ROOT='"$(CURDIR)"' -DNPUSIM_SHARE='"$(PREFIX)/share/npusim"' \
        -DNPUSIM_LIB='"$(LIBDIR)/npusim"'
VERSION = $(shell sed -n 's/^.define NPUSIM_VERSION "\(.*\)".*/\1/p' sim/base/version.h)
# The shared library's file, and the names of sim/npusim.h.
SO_MAJOR = $(firstword $(subst ., ,$(VERSION)))
# Of ELF alone: elsewhere the static library has all names, and there is no shared one.
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
SUBMAKE = $(MAKE) --no-print-directory $(PARALLEL) DEPS=ok REPORT='$(REPORT)'

LIB_OBJ = $(LIB_SRC:%.c=$B/%.o)
PROGRAM_OBJ = $(PROGRAM_SRC:%.c=$B/%.o) $B/results/report/embed.o
TEST_OBJ = $(TEST_SRC:%.c=$B/%.o) $(SEEN:%=$B/sim/cli/%.o)
FUZZ_BIN = $(FUZZ:%=$B/fuzz/%)

.PHONY: all demo test check validate bench bench-update fuzz layers calls picture links sources headers deps deps-dev deps-check distcheck golden
.PHONY: format check-format cuda golden-update coverage install uninstall clean help test-program fuzz-programs FORCE

##> What to build
all: $B/npusim $B/libnpusim.a $(SO:%=$B/%) ## the program and the library, in build/$(PROFILE)/

test-program: $B/npusim-test ## all unit, contract, model and property suites as one program
fuzz-programs: $(FUZZ_BIN)
	@:

# All of it, for our own programs and tests.
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

$B/npusim: $(PROGRAM_OBJ) $B/core.a
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $(PROGRAM_OBJ) $B/core.a $(OUR_LIBS)

$B/npusim-test: $(TEST_OBJ) $B/core.a
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $(TEST_OBJ) $B/core.a $(OUR_LIBS)

# In profile fuzz libFuzzer brings main(); else it is the standalone mutator.
FUZZ_MAIN = $(if $(filter fuzz,$(PROFILE)),,$B/$T/fuzz/standalone.o)
$(foreach f,$(FUZZ),$(eval $B/fuzz/$f: $(SEEN_$f:%=$B/sim/cli/%.o)))
$(FUZZ_BIN): $B/fuzz/%: $B/$T/fuzz/f_%.o $(FUZZ_MAIN) $B/core.a
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OUR_CFLAGS) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) $(LDFLAGS) -o $@ $(filter %.o,$^) $B/core.a $(OUR_LIBS)

$B/rusage: $B/$T/bench/rusage.o
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $<

$B/dies.so: $T/dies.c $B/.flags
	$(say) LD $@
	$(Q)$(CC) -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror) -O2 -fPIC -shared $(LDFLAGS) -o $@ $< -ldl

$B/b_dram: $B/$T/bench/b_dram.o $B/core.a
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $^ $(OUR_LIBS)
$B/b_step: $B/$T/bench/b_step.o $B/core.a
	$(say) LD $@
	$(Q)$(CC) $(OUR_CFLAGS) $(LDFLAGS) -o $@ $^ $(OUR_LIBS)

# Of some eight hundred: what it says and its folder (.flags) cost no process.
$B/%.o: %.c $B/.flags
	$(if $(Q),$(info $(space)$(space)CC$(space)$(space) $<))
	$(Q)$(CC) $(OUR_CPPFLAGS) $(EXTRA) $(OUR_CFLAGS) -MMD -MP -c -o $@ $<
$(SUITE_SRC:%.c=$B/%.o): private OPT_OF = $(OPT_suite_$(PROFILE))
$(SUITE_SRC:%.c=$B/%.o): $B/.suite_flags

# What only some objects know, so that only they are rebuilt when it changes.
$B/sim/base/path.o $B/sim/api/api.o $B/$T/main.o: EXTRA = $(ROOTS) -I$B
$B/sim/base/path.o $B/sim/api/api.o $B/$T/main.o: $B/.roots
$B/$T/main.o: $B/suites.inc
$B/sim/base/version.o: EXTRA = -DNPUSIM_COMMIT='"$(shell cat $B/.commit)"' -DNPUSIM_PROFILE='"$(PROFILE)"' \
                          -DNPUSIM_GPU_MODEL='"$(shell cat $B/.gpu_model)"'
$B/sim/base/version.o: $B/.commit $B/.gpu_model

# --- the page of npusim report: one text, made once for all profiles, that the program carries --------------------
REPORT = $(BUILD)/report
REPORT_PARTS = $(addprefix results/report/,bundle.sh pack.js unpack.js charts.js charts_vega.js page.html page_script.js page.css live.css page.js figure.js live_library.js live.js run.js run_points.js compared.js \
               sweep.js sweep_lines.js sweep_front.js sweep_axes.js design.js serve.js package.json package-lock.json)

$(REPORT)/page.html: $(REPORT_PARTS) $(REPORT)/.npm
	$(say) PAGE $@
	$(Q)sh results/report/bundle.sh $@

$(REPORT)/live.html: $(addprefix results/report/,bundle.sh live.html page.css live.css unpack.js live_library.js live.js)
	$(say) PAGE $@
	$(Q)sh results/report/bundle.sh live $@

.PHONY: report-page
report-page: ## fetch the charts of npusim report by npm once more, after it failed
	$(Q)rm -f $(REPORT)/page.html && $(SUBMAKE) PROFILE=$(PROFILE) all

# Node.js that came or went since changes what can be made.
$(REPORT)/.npm: FORCE
	@$(call write_if_changed,"$$(command -v node) $$(command -v npm)")

$B/results/report/embed.o: results/report/embed.S results/report/draw.js $(REPORT)/page.html $(REPORT)/live.html $B/.flags
	$(say) AS $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -DREPORT_PAGE='"$(REPORT)/page.html"' -DLIVE_PAGE='"$(REPORT)/live.html"' $(CFLAGS) -c -o $@ $<

# --- the library as WebAssembly, for npusim page: no files, no threads, one machine after the other ---------------
CLANG = clang
WASM = $(BUILD)/wasm
# What is not called there is not there: reading profiles, databases, workers.
WASM_LEFT_OUT = sim/base/pool.c sim/base/inputs.c sim/base/db.c sim/base/newfile.c sim/base/temp.c traces/db/% traces/read/% results/db/% results/plot/% \
                sim/align/% sim/program/% sim/serve/% sim/profile/% sim/study/sweep% sim/study/ablate% sim/accuracy/fit% sim/accuracy/probe% sim/live/live_page.c sim/report/packed.c \
                sim/ui/opt% sim/ui/inner.c sim/ui/screen.c sim/ui/progress.c sim/ui/outfile.c
WASM_OBJ = $(patsubst %.c,$(WASM)/%.o,$(filter-out $(WASM_LEFT_OUT),$(LIB_SRC)) $(LIVE))
# What a move of a slider runs is to be quick, all else small.
WASM_OPT = $(if $(filter $(WASM)/sim/map/% $(WASM)/sim/engine/% $(WASM)/sim/base/% $(WASM)/arch/%,$@),-O2,-Oz)
# Headers of libraries from the host, behind those of the target.
WASM_CFLAGS = --target=wasm32-wasi -std=c11 -Wall -Wextra $(WASM_OPT) -DNDEBUG -ffp-contract=off -fvisibility=hidden -ffunction-sections -fdata-sections -I. \
              -D_POSIX_C_SOURCE=200809L -DNPUSIM_ROOT='""' -DNPUSIM_SHARE='""' -DNPUSIM_LIB='""' \
              -idirafter /usr/include $(addprefix -idirafter ,$(wildcard /usr/include/*-linux-gnu))

.PHONY: live
live: ## the library as WebAssembly beside the program, for npusim page (clang, wasm-ld, wasi-libc)
	@$(DEPS_SH) live
	$(Q)$(SUBMAKE) PROFILE=$(PROFILE) all $B/npusim-live.wasm

$B/npusim-live.wasm: $(WASM_OBJ)
	$(say) LD $@
	$(Q)$(CLANG) --target=wasm32-wasi -mexec-model=reactor -Wl,--allow-undefined,--gc-sections,--strip-all,-z,stack-size=1048576 -o $@ $^

$(WASM)/%.o: %.c
	$(say) WASM $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(WASM_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<
$(WASM)/sim/live/live_memory.o: EXTRA = -O2 -mbulk-memory -fno-builtin
$(WASM)/sim/base/version.o: EXTRA = -DNPUSIM_COMMIT='"$(shell cat $B/.commit)"' -DNPUSIM_PROFILE='"wasm"' \
                                    -DNPUSIM_GPU_MODEL='"$(shell cat $B/.gpu_model)"'
$(WASM)/sim/base/version.o: $B/.commit $B/.gpu_model
-include $(wildcard $(WASM_OBJ:.o=.d))

# --- stamps: files that change only when their text does ----------------------------------------------------------
quoted = '$(subst ','\'',$(1))'
write_if_changed = mkdir -p $(@D) && { printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@; }

$B/.flags: FORCE | deps-check
	@mkdir -p $(sort $(dir $(LISTED:%=$B/%)))
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

# What a GPU's time is computed by, from the trace's ops on: an error found with other sources is not this build's. A file
# of these folders is in it by itself; `make gpu-model` holds what they include, and prints the list.
GPU_MODEL = $(sort $(wildcard arch/gpu/*.[ch] arch/mem/*.[ch] arch/comp.[ch] arch/power/energy.[ch] arch/machine/machine_gpu.[ch] workloads/*.[ch] sim/lower/*.[ch] \
                              $(foreach g,clock evq hash ratio,sim/base/$g.[ch]) configs/kernels/*.yaml configs/rules/*.yaml))
$B/.gpu_model: FORCE
	@$(call write_if_changed,"$$(cat $(GPU_MODEL) | cksum | tr ' ' -)")

-include $(wildcard $(LIB_OBJ:.o=.d) $(PROGRAM_OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(FUZZ_SRC:%.c=$B/%.d) $(TOOL_SRC:%.c=$B/%.d))

##> The GPU's model and what was measured
H200 = $(BUILD)/h200
$(H200)/operators.db: $(wildcard traces/h200/operators/*.json.gz) $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $(filter %.gz,$^) -o $@ >/dev/null

# The first sweep's operands had just been written: what was still leaving the L2 is in its times and not in the model.
$(H200)/sweep2.db: $(wildcard traces/h200/sweep/sweep2_*.json.gz) $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $(filter %.gz,$^) -o $@ >/dev/null

$(H200)/sweep.db: $(wildcard traces/h200/sweep/*.json.gz) $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $(filter %.gz,$^) -o $@ >/dev/null

.PHONY: calibrate-h200 carry accuracy
# Exit 1 when the values differ from those committed. The plan's starts do not depend on the file, so it may be its own base.
calibrate-h200: $(H200)/operators.db $(H200)/sweep2.db ## fit configs/gpu/h200.yaml anew from the committed measurements, and compare
	$(Q)$B/npusim calibrate -c configs/gpu/h200.yaml -p configs/calibrate/h200.yaml $(patsubst %,-t %,$^) -o $(H200)/fitted.yaml --check

carry: $B/npusim ## the H200's fitted values into the other devices' configurations, by the rules stated there
	$(Q)sh validate/tools/carry.sh $B/npusim

accuracy: $(H200)/operators.db $(H200)/sweep.db ## what validation finds, into validate/ACCURACY.md and configs/accuracy
	@mkdir -p configs/accuracy
	@sh validate/tools/accuracy.sh $B/npusim $(H200)

$(H200)/attention.db: traces/h200/micro/attention.json.gz $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $< -o $@ >/dev/null

$(H200)/attention-h100.db: traces/h100/micro/attention.json.gz $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $< -o $@ >/dev/null

.PHONY: ablation
ablation: $(H200)/attention.db $(H200)/attention-h100.db ## asynchronous copy on and off in our attention kernels, measured and simulated: H200 and H100
	@sh validate/tools/ablation.sh $B/npusim h200 $(H200)/attention.db
	@echo; echo "the same on an H100, nothing fitted to it"
	@sh validate/tools/ablation.sh $B/npusim h100 $(H200)/attention-h100.db

##> What a newcomer wants
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
deps-dev: deps ## the same for distcheck and fuzz: clang with sanitizers and libFuzzer, valgrind
	@$(DEPS_SH) dev && echo "everything make distcheck needs is here"
deps-check:
ifneq ($(DEPS),ok)
	@$(DEPS_SH) need
endif

##> Checks; test, check and distcheck end with a line "N passed, N failed"
CHECK = env BUILD='$(BUILD)' PREFIX='$(PREFIX)' LISTED='$(LISTED)' FORMATTED='$(FORMATTED)' GPU_MODEL='$(GPU_MODEL)' FUZZ='$(FUZZ)' MAKE_COMMAND='$(MAKE_COMMAND)' CC='$(CC)' \
        REPORT='$(REPORT)' V='$(V)' sh validate/tools/check.sh

test: deps-check ## for the loop of a day: the suites and golden texts of the release build
	$(Q)$(SUBMAKE) PROFILE=release all test-program
	$(Q)$(CHECK) test

check: deps-check ## all suites in release, units in asan, with -Werror, golden, kills, Python, fuzz smoke, layers, calls, links, format, sources, headers, install
	@$(DEPS_SH) docs
	@$(DEPS_SH) cluster
	@$(DEPS_SH) python
	@$(DEPS_SH) browser || :
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/check PROFILE=release WERROR=1 all test-program $(BUILD)/check/release/dies.so
	$(Q)$(SUBMAKE) BUILD=$(BUILD)/check PROFILE=asan WERROR=1 MODEL= PROPERTY= test-program fuzz-programs
	$(Q)$(CHECK) check

DIST_COMPILERS = gcc clang
DIST_PROFILES = release debug asan tsan
distcheck: deps-check ## every profile with gcc and clang, and valgrind over the suites (make deps-dev first)
	@$(DEPS_SH) dev
	$(Q)set -e; for cc in $(DIST_COMPILERS); do for profile in $(DIST_PROFILES); do \
		echo "$$cc $$profile"; \
		$(SUBMAKE) BUILD=$(BUILD)/dist/$$cc PROFILE=$$profile CC=$$cc WERROR=1 all test-program; done; done
	$(Q)$(CHECK) dist $(foreach c,$(DIST_COMPILERS),$(foreach p,$(DIST_PROFILES),$c/$p))

golden: all ## whole runs compared with the text in validate/tests/golden/*.out
	$(Q)NPUSIM='$(CURDIR)/$B/npusim' sh $T/golden/run.sh
golden-update: all ## rewrite those texts from this build; look at the diff before a commit
	$(Q)NPUSIM='$(CURDIR)/$B/npusim' sh $T/golden/run.sh --update

PAGE_TEST = env NPUSIM='$(CURDIR)/$B/npusim' REPORT='$(REPORT)' BUILD='$(BUILD)' MAKE_COMMAND='$(MAKE_COMMAND)' sh $T/page/run.sh
.PHONY: check-report report-shots
check-report: all ## the page of npusim report in a real browser: charts, brush, themes, names of strangers (a part of check)
	$(Q)$(PAGE_TEST) check
.PHONY: check-live
check-live: live ## the page of npusim page in a real browser, 200 moves held against the program
	$(Q)NPUSIM='$(CURDIR)/$B/npusim' REPORT='$(REPORT)' sh $T/page/live.sh
report-shots: all ## pictures of its charts anew, into results/examples
	$(Q)$(PAGE_TEST) shots

validate: all ## the models against better ones and against real devices; tables and plots in build/validate
	$(Q)NPUSIM='$(CURDIR)/$B/npusim' OUT='$(BUILD)/validate' sh validate/tools/validate.sh

.PHONY: studies
STUDIES = report-tables report-npu review-facts software-recommendations gb200-roofline l4-attention h100-attention \
          batching kv-cache quantisation fusion gqa context-scaling scale-out apart ask-kernels ask-stages ask-npu ask-review ask-h100 ask-l4 ask-gb200
studies: all ## the questions of configs/studies answered: pages in results/studies, claims with verdicts in validate/CLAIMS.md
	$(Q)mkdir -p results/studies
	$(Q)$B/npusim study $(STUDIES:%=configs/studies/%.yaml) --pages results/studies --markdown validate/CLAIMS.md >$B/studies.txt
	@sed -n '3p' validate/CLAIMS.md

.PHONY: claims
claims: all ## every figure of validate/CLAIMS.md worked out again from tables and commands; fails where one differs or two verdicts contradict
	$(Q)$B/npusim study $(STUDIES:%=configs/studies/%.yaml) --markdown $B/claims.md >$B/claims.txt
	$(Q)diff validate/CLAIMS.md $B/claims.md
	@sed -n '3p' $B/claims.md

.PHONY: check-python
check-python: all ## results/python beside the program: 200 random machines to the byte, faults, searches, the notebook (a part of check)
	@sh validate/tools/python.sh $B

.PHONY: check-same
MACHINES = 1000
check-same: live ## MACHINES random machines: command line, library, Python and WebAssembly the same to the byte (a few in check)
	@CC='$(CC)' sh $T/same/same.sh $B $(MACHINES)

.PHONY: silicon
silicon: all ## NPUs against rows that others timed on them: by data sheet, by ten rows, roofline beside
	@sh validate/tools/silicon.sh $B/npusim

.PHONY: kills
KILLS = 100 1
kills: all $B/dies.so ## kill commands that write at 100 moments, and look at what is left (KILLS="N SEED"; V=1: a line a kill)
	@V='$(V)' sh validate/tools/kills.sh $B/npusim $B/dies.so $(KILLS)

.PHONY: kineto-links
kineto-links: all ## how kernels of real Kineto files came to their operators, and how many were tied to wrong ones by the id alone
	@sh validate/tools/kineto_links.sh $B/npusim $T/data/kineto/old_ids.json $(wildcard ../shared/samples/kineto_json/*)

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

sources: ## every .c file is in a list of this Makefile, and every listed file is there
	@sh validate/tools/sources.sh $(LISTED)

FORMATTED = $(shell git ls-files '*.c' '*.h')
format: ## write .c and .h files as .clang-format says
	$(Q)sh validate/tools/format.sh apply $(FORMATTED)
check-format: ## they are written so, where that version of clang-format is installed
	@sh validate/tools/format.sh check $(FORMATTED)

.PHONY: gpu-model
gpu-model: ## what the GPU model is made of: its fingerprint covers these files, and nothing else decides its times
	@sh validate/tools/gpu_model.sh $(GPU_MODEL) && printf '%s\n' $(GPU_MODEL)

headers: deps-check ## every header compiles alone
	@CC='$(CC)' CPPFLAGS='$(OUR_CPPFLAGS)' sh validate/tools/headers.sh

fuzz: deps-check ## libFuzzer (clang) on each reader for FUZZ_SECONDS; else the standalone mutator
	$(Q)if $(DEPS_SH) fuzz; then $(SUBMAKE) PROFILE=fuzz CC=clang fuzz-programs; else $(SUBMAKE) PROFILE=asan fuzz-programs; fi
	$(Q)BUILD='$(BUILD)' FUZZ_SECONDS='$(FUZZ_SECONDS)' sh validate/tools/fuzz.sh $(FUZZ)

coverage: deps-check ## lines of each source file that the suites reach
	$(Q)$(SUBMAKE) PROFILE=cov test-program
	$(Q)BUILD='$(BUILD)' sh validate/tools/coverage.sh $(LIB_SRC)

bench: deps-check ## events and steps per second, instructions per event, import rate, peak memory
	$(Q)$(SUBMAKE) PROFILE=release all $(BUILD)/release/rusage $(BUILD)/release/b_dram $(BUILD)/release/b_step
	$(Q)BUILD='$(BUILD)' sh $T/bench/bench.sh
bench-update: deps-check ## the same, and makes the counts the new baseline
	$(Q)$(SUBMAKE) PROFILE=release all $(BUILD)/release/rusage $(BUILD)/release/b_dram $(BUILD)/release/b_step
	$(Q)BUILD='$(BUILD)' sh $T/bench/bench.sh --update

##> On a machine with an NVIDIA GPU; no part of all or check
NVCC = $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
# The device's compute capability without its dot, from 80 to 120.
CUDA_ARCH = 90
CUDA = $(BUILD)/cuda
CUDA_PROGRAMS = device micro_latency micro_partition micro_launch micro_stream micro_pipe micro_wgmma micro_bulk micro_graph ref_gemv ref_decode \
	ref_rows ref_move ref_small ref_attention ref_tiled ref_addnorm ref_batched ref_copies ref_experts ref_mla ref_mlp ref_paged ref_product ref_quant \
	ref_rope ref_sort ref_warpgroup lib_gemm lib_matmul lib_tiles lib_ampere capture
# Those with warpgroup instructions, which are only in the target with an a.
CUDA_WGMMA = micro_wgmma ref_batched ref_copies ref_experts ref_product ref_warpgroup
CUDA_ROOT = $(patsubst %/bin/nvcc,%,$(NVCC))
# Times by activity record need CUPTI, which not every toolkit brings.
CUPTI = $(wildcard $(CUDA_ROOT)/include/cupti.h)
CUPTI_LIBS = $(if $(CUPTI),-L$(CUDA_ROOT)/lib64 -Xlinker -rpath=$(CUDA_ROOT)/lib64 -lcupti)
NVCC_FLAGS = -O3 -std=c++17 -Xcompiler -Wall,-Wextra $(if $(CUPTI),-DBENCH_CUPTI)
CUDA_TARGET = -gencode=arch=compute_$(1),code=sm_$(1)

# The library of `npusim trace record`: C, so that it needs CUPTI and no nvcc; one optimised build whatever the profile.
CUPTI_DIRS = $(foreach d,$(CUDA_ROOT) /usr/local/cuda,$d $d/extras/CUPTI)
CUPTI_DIR = $(firstword $(foreach d,$(CUPTI_DIRS),$(and $(wildcard $d/include/cupti.h),$(wildcard $d/lib64/libcupti.so),$d)))
CAPTURE = $(if $(CUPTI_DIR),$(if $(filter release debug,$(PROFILE)),$B/libnpusim-capture.so))
CAPTURE_CFLAGS = -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror) -O2 -fPIC -fvisibility=hidden -I. \
                 $(addprefix -isystem ,$(CUPTI_DIR)/include $(wildcard $(CUDA_ROOT)/include))
CAPTURE_LIBS = -L$(CUPTI_DIR)/lib64 -Wl,-rpath,$(CUPTI_DIR)/lib64 -lcupti -lpthread -ldl

.PHONY: capture
all: $(CAPTURE)
capture: $(CAPTURE) ## the library of `npusim trace record`, which all builds too where CUPTI is (cupti.h and libcupti)
ifeq ($(CUPTI_DIR),)
	@echo "make capture: there is no cupti.h with libcupti.so in any of: $(CUPTI_DIRS)"
endif

$B/libnpusim-capture.so: traces/capture/capture.c traces/capture/spool.h $B/.flags
	$(say) LD $@
	$(Q)$(CC) $(CAPTURE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -shared $(LDFLAGS) -o $@ $< $(CAPTURE_LIBS)

cuda: ## the measurements and reference kernels of validate/cuda, in build/cuda/ (CUDA_ARCH=80..120; nvcc needed)
ifeq ($(NVCC),)
	@echo "make cuda: nvcc is not in PATH nor in /usr/local/cuda/bin; it comes with NVIDIA's CUDA toolkit"
else
	$(Q)$(MAKE) --no-print-directory $(CUDA_PROGRAMS:%=$(CUDA)/%)
	$(Q)rm -f $(CUDA)/.cupti $(if $(CUPTI),&& touch $(CUDA)/.cupti)
endif

$(CUDA)/%.o: validate/cuda/%.cu $(wildcard validate/cuda/*.cuh)
	$(say) NVCC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCC_FLAGS) $(call CUDA_TARGET,$(CUDA_ARCH)$(if $(filter 90,$(CUDA_ARCH)),$(if $(filter $(CUDA_WGMMA),$*),a))) -c -o $@ $<
$(CUDA_PROGRAMS:%=$(CUDA)/%): $(CUDA)/%: $(CUDA)/%.o $(CUDA)/bench.o $(CUDA)/bench_trace.o
	$(say) LD $@
	$(Q)$(NVCC) $(call CUDA_TARGET,$(CUDA_ARCH)) -o $@ $^ $(CUPTI_LIBS) $(if $(findstring /lib_,$@),-lcublas -lcublasLt)

##> Installing (PREFIX=/usr/local; LIBDIR, DESTDIR for packagers)
PC_LINES = 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)' 'datadir=$${prefix}/share/npusim' '' \
	'Name: npusim' 'Description: what a workload takes on an NPU or a GPU: a cycle-approximate simulator' 'Version: $(VERSION)' \
	'Requires.private: yaml-0.1 sqlite3 yajl zlib' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lnpusim' 'Libs.private: -lm'
SHARED = configs traces/capture/torch_ops.py traces/h100/micro/copies_cupti.csv traces/h200 traces/rtx5090 workloads/models workloads/ops workloads/requests workloads/kernels
DOC = $(PREFIX)/share/doc/npusim
# As Debian has it: one place for all versions of Python.
PYTHON = $(PREFIX)/lib/python3/dist-packages/npusim
DOCUMENTED = README.md LICENSE arch configs results sim traces validate workloads
MAN1 = $(PREFIX)/share/man/man1
MAN3 = $(PREFIX)/share/man/man3
BASH_COMPLETION = $(PREFIX)/share/bash-completion/completions/npusim
ZSH_COMPLETION = $(PREFIX)/share/zsh/site-functions/_npusim
FISH_COMPLETION = $(PREFIX)/share/fish/vendor_completions.d/npusim.fish

install: all ## program, library, headers, npusim.pc, Python, manual page, documents, completions, configurations, the demo's trace
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)$(INSTALL) -m 755 $B/npusim $(DESTDIR)$(PREFIX)/bin/npusim
	$(Q)$(INSTALL) -m 644 $B/libnpusim.a $(DESTDIR)$(LIBDIR)/libnpusim.a
	$(Q)$(if $(SO),$(INSTALL) -m 755 $B/$(SO) $(DESTDIR)$(LIBDIR)/$(SO) && \
		ln -sf $(SO) $(DESTDIR)$(LIBDIR)/libnpusim.so.$(SO_MAJOR) && ln -sf $(SO) $(DESTDIR)$(LIBDIR)/libnpusim.so)
	$(Q)$B/npusim man >$B/npusim.1 && $(INSTALL) -D -m 644 $B/npusim.1 $(DESTDIR)$(MAN1)/npusim.1
	$(Q)awk -f sim/api/man3.awk sim/npusim.h >$B/npusim.3 && $(INSTALL) -D -m 644 $B/npusim.3 $(DESTDIR)$(MAN3)/npusim.3
	$(Q)set -e; for shell in bash:$(BASH_COMPLETION) zsh:$(ZSH_COMPLETION) fish:$(FISH_COMPLETION); do \
		$B/npusim completion $${shell%%:*} >$B/completion && $(INSTALL) -D -m 644 $B/completion $(DESTDIR)$${shell#*:}; done
	$(Q)$(if $(wildcard $B/npusim-live.wasm),$(INSTALL) -D -m 644 $B/npusim-live.wasm $(DESTDIR)$(LIBDIR)/npusim/npusim-live.wasm)
	$(Q)$(if $(CAPTURE),$(INSTALL) -D -m 755 $(CAPTURE) $(DESTDIR)$(LIBDIR)/npusim/libnpusim-capture.so)
	$(Q)printf '%s\n' $(PC_LINES) >$(DESTDIR)$(LIBDIR)/pkgconfig/npusim.pc
	$(Q)$(INSTALL) -D -m 644 sim/npusim.h $(DESTDIR)$(PREFIX)/include/npusim.h
	$(Q)set -e; for f in $(wildcard results/python/npusim/*.py results/python/npusim/py.typed); do \
		$(INSTALL) -D -m 644 $$f $(DESTDIR)$(PYTHON)/$${f##*/}; done
	$(Q)set -e; for f in $(EXAMPLES); do $(INSTALL) -D -m 644 $$f $(DESTDIR)$(DOC)/$$f; done
	$(Q)set -e; for f in $$(find $(wildcard $(SHARED)) -type f); do \
		$(INSTALL) -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/npusim/$$f; done
	$(Q)set -e; for f in $$(find $(DOCUMENTED) -name '*.md' -o -name LICENSE); do \
		$(INSTALL) -D -m 644 $$f $(DESTDIR)$(DOC)/$$f; done

uninstall: ## remove what install put there
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/npusim $(DESTDIR)$(LIBDIR)/libnpusim.a $(DESTDIR)$(PREFIX)/include/npusim.h \
		$(addprefix $(DESTDIR)$(LIBDIR)/,$(SO) libnpusim.so.$(SO_MAJOR) libnpusim.so) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/npusim.pc $(DESTDIR)$(MAN1)/npusim.1 $(DESTDIR)$(MAN3)/npusim.3 \
		$(addprefix $(DESTDIR),$(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION))
	$(Q)rm -rf $(DESTDIR)$(PREFIX)/share/npusim $(DESTDIR)$(LIBDIR)/npusim $(DESTDIR)$(PYTHON) $(DESTDIR)$(DOC)

DEB = $(BUILD)/deb
.PHONY: deb
deb: ## Debian packages and their source package, in build/deb (Debian; no tests: they are make check's)
	@$(DEPS_SH) deb
	$(Q)sh validate/tools/deb.sh $(DEB) $(VERSION)

##> Housekeeping
clean: ## remove build/
	$(Q)rm -rf $(BUILD)

help: ## this list
	@awk -F':.*## ' '/^##>/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
	@printf '\nVariables: PROFILE=release|debug|asan|tsan|cov  CC=...  V=1 (show commands)  WERROR=1  FUZZ_SECONDS=60\n           NPUSIM_TEST_SIZE=short|usual|long (samples of random suites)\n'
