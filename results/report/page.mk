# page.mk - the page of `npusim report`, and the library as WebAssembly for `npusim page`. A part of the Makefile.

# One text, made once for all profiles, that the program carries.
REPORT = $(BUILD)/report
REPORT_PARTS = $(addprefix results/report/,bundle.sh pack.js unpack.js charts.js charts_vega.js page.html page_script.js page.css live.css \
               page.js figure.js live_library.js live.js run.js run_points.js compared.js sweep.js sweep_lines.js sweep_front.js \
               sweep_axes.js design.js serve.js package.json package-lock.json)
LIVE_PARTS = $(addprefix results/report/,bundle.sh live.html page.css live.css unpack.js live_library.js live.js)

$(REPORT)/page.html: $(REPORT_PARTS) $(REPORT)/.npm
	$(say) PAGE $@
	$(Q)sh results/report/bundle.sh $@
$(REPORT)/live.html: $(LIVE_PARTS)
	$(say) PAGE $@
	$(Q)sh results/report/bundle.sh live $@

.PHONY: report-page live
report-page: ## fetch the charts of npusim report by npm once more, after it failed
	$(Q)rm -f $(REPORT)/page.html && $(SUBMAKE) PROFILE=$(PROFILE) all

# Node.js that came or went since changes what can be made.
$(REPORT)/.npm: FORCE
	@$(call write_if_changed,"$$(command -v node) $$(command -v npm)")

$B/results/report/embed.o: results/report/embed.S results/report/draw.js $(REPORT)/page.html $(REPORT)/live.html $B/.flags
	$(say) AS $<
	$(Q)$(CC) $(CPPFLAGS) -DREPORT_PAGE='"$(REPORT)/page.html"' -DLIVE_PAGE='"$(REPORT)/live.html"' $(CFLAGS) -c -o $@ $<

CLANG = clang
WASM = $(BUILD)/wasm
# No files, no threads, one machine after the other: what reads profiles and databases or starts workers is not there.
WASM_LEFT_OUT = sim/base/pool.c sim/base/inputs.c sim/base/db.c sim/base/newfile.c sim/base/temp.c traces/db/% traces/read/% results/db/% results/plot/% \
                sim/align/% sim/program/% sim/serve/% sim/profile/% sim/study/sweep% sim/study/ablate% sim/accuracy/fit% sim/accuracy/probe% sim/accuracy/behaviour% sim/live/live_page.c sim/report/packed.c \
                sim/ui/opt% sim/ui/inner.c sim/ui/screen.c sim/ui/progress.c sim/ui/outfile.c
WASM_OBJ = $(patsubst %.c,$(WASM)/%.o,$(filter-out $(WASM_LEFT_OUT),$(LIB_SRC)) $(LIVE))
# What runs when a slider moves is compiled for speed, all else for size.
WASM_OPT = $(if $(filter $(WASM)/sim/map/% $(WASM)/sim/engine/% $(WASM)/sim/base/% $(WASM)/arch/%,$@),-O2,-Oz)
# Headers of libraries come from the host, behind those of the target.
WASM_CFLAGS = --target=wasm32-wasi -std=c11 -Wall -Wextra $(WASM_OPT) -DNDEBUG -ffp-contract=off -fvisibility=hidden -ffunction-sections -fdata-sections -I. \
              -D_POSIX_C_SOURCE=200809L -DNPUSIM_ROOT='""' -DNPUSIM_SHARE='""' -DNPUSIM_LIB='""' \
              -idirafter /usr/include $(addprefix -idirafter ,$(wildcard /usr/include/*-linux-gnu))

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
$(WASM)/sim/base/version.o: EXTRA = $(BUILT_FROM) -DNPUSIM_PROFILE='"wasm"'
$(WASM)/sim/base/version.o: $B/.commit
$(WASM)/sim/base/fingerprint.o: EXTRA = $(FINGERPRINT)
$(WASM)/sim/base/fingerprint.o: $B/.gpu_model
-include $(wildcard $(WASM_OBJ:.o=.d))
