# install.mk - what `make install` puts where, and Debian packages. A part of the Makefile.

##> Installing (PREFIX=/usr/local; LIBDIR, DESTDIR for packagers)
PC_LINES = 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)' 'datadir=$${prefix}/share/npusim' '' \
	'Name: npusim' 'Description: what a workload takes on an NPU or a GPU: a cycle-approximate simulator' 'Version: $(VERSION)' \
	'Requires.private: yaml-0.1 sqlite3 yajl zlib' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lnpusim' 'Libs.private: -lm'
SHARED = configs traces/capture/torch_ops.py traces/h100/micro/copies_cupti.csv traces/h200 traces/rtx5090 workloads/models workloads/ops workloads/requests workloads/kernels
DOC = $(PREFIX)/share/doc/npusim
# Debian's place for all versions of Python.
PYTHON = $(PREFIX)/lib/python3/dist-packages/npusim
DOCUMENTED = README.md LICENSE arch configs results sim traces validate workloads
MAN1 = $(PREFIX)/share/man/man1
MAN3 = $(PREFIX)/share/man/man3
BASH_COMPLETION = $(PREFIX)/share/bash-completion/completions/npusim
ZSH_COMPLETION = $(PREFIX)/share/zsh/site-functions/_npusim
FISH_COMPLETION = $(PREFIX)/share/fish/vendor_completions.d/npusim.fish
# The folder to install below, as a word for the shell.
TO = $(call quoted,$(DESTDIR))

.PHONY: install uninstall deb
install: all ## program, library, headers, npusim.pc, Python, manual page, documents, completions, configurations, the demo's trace
	$(Q)$(INSTALL) -d $(TO)$(PREFIX)/bin $(TO)$(LIBDIR)/pkgconfig
	$(Q)$(INSTALL) -m 755 $B/npusim $(TO)$(PREFIX)/bin/npusim
	$(Q)$(INSTALL) -m 644 $B/libnpusim.a $(TO)$(LIBDIR)/libnpusim.a
	$(Q)$(if $(SO),$(INSTALL) -m 755 $B/$(SO) $(TO)$(LIBDIR)/$(SO) && \
		ln -sf $(SO) $(TO)$(LIBDIR)/libnpusim.so.$(SO_MAJOR) && ln -sf $(SO) $(TO)$(LIBDIR)/libnpusim.so)
	$(Q)$B/npusim man >$B/npusim.1 && $(INSTALL) -D -m 644 $B/npusim.1 $(TO)$(MAN1)/npusim.1
	$(Q)awk -f sim/api/man3.awk sim/npusim.h >$B/npusim.3 && $(INSTALL) -D -m 644 $B/npusim.3 $(TO)$(MAN3)/npusim.3
	$(Q)set -e; for shell in bash:$(BASH_COMPLETION) zsh:$(ZSH_COMPLETION) fish:$(FISH_COMPLETION); do \
		$B/npusim completion $${shell%%:*} >$B/completion && $(INSTALL) -D -m 644 $B/completion $(TO)$${shell#*:}; done
	$(Q)$(if $(wildcard $B/npusim-live.wasm),$(INSTALL) -D -m 644 $B/npusim-live.wasm $(TO)$(LIBDIR)/npusim/npusim-live.wasm)
	$(Q)$(if $(CAPTURE),$(INSTALL) -D -m 755 $(CAPTURE) $(TO)$(LIBDIR)/npusim/libnpusim-capture.so)
	$(Q)printf '%s\n' $(PC_LINES) >$(TO)$(LIBDIR)/pkgconfig/npusim.pc
	$(Q)$(INSTALL) -D -m 644 sim/npusim.h $(TO)$(PREFIX)/include/npusim.h
	$(Q)set -e; for f in $(wildcard results/python/npusim/*.py results/python/npusim/py.typed); do \
		$(INSTALL) -D -m 644 $$f $(TO)$(PYTHON)/$${f##*/}; done
	$(Q)set -e; for f in $(wildcard sim/examples/*.c); do $(INSTALL) -D -m 644 $$f $(TO)$(DOC)/$$f; done
	$(Q)set -e; for f in $$(find $(wildcard $(SHARED)) -type f); do \
		$(INSTALL) -D -m 644 $$f $(TO)$(PREFIX)/share/npusim/$$f; done
	$(Q)set -e; for f in $$(find $(DOCUMENTED) -name '*.md' -o -name LICENSE); do \
		$(INSTALL) -D -m 644 $$f $(TO)$(DOC)/$$f; done

uninstall: ## remove what install put there
	$(Q)rm -f $(TO)$(PREFIX)/bin/npusim $(TO)$(LIBDIR)/libnpusim.a $(TO)$(PREFIX)/include/npusim.h \
		$(addprefix $(TO)$(LIBDIR)/,$(SO) libnpusim.so.$(SO_MAJOR) libnpusim.so) \
		$(TO)$(LIBDIR)/pkgconfig/npusim.pc $(TO)$(MAN1)/npusim.1 $(TO)$(MAN3)/npusim.3 \
		$(TO)$(BASH_COMPLETION) $(TO)$(ZSH_COMPLETION) $(TO)$(FISH_COMPLETION)
	$(Q)rm -rf $(TO)$(PREFIX)/share/npusim $(TO)$(LIBDIR)/npusim $(TO)$(PYTHON) $(TO)$(DOC)

deb: ## Debian packages and their source package, in build/deb (Debian; no tests: they are make check's)
	@$(DEPS_SH) deb
	$(Q)sh validate/tools/deb.sh $(BUILD)/deb $(VERSION)
