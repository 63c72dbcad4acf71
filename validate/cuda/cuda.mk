# cuda.mk - what runs on a machine with an NVIDIA GPU; no part of check or gate. A part of the Makefile.

##> On a machine with an NVIDIA GPU
NVCC = $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
# The device's compute capability without its dot, from 80 to 120.
CUDA_ARCH = 90
CUDA = $(BUILD)/cuda
CUDA_LIBRARY = bench bench_trace
CUDA_PROGRAMS = $(filter-out $(CUDA_LIBRARY),$(patsubst validate/cuda/%.cu,%,$(wildcard validate/cuda/*.cu)))
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
CAPTURE_CFLAGS = -std=c11 -Wall -Wextra -Wpedantic $(WERROR) -O2 -fPIC -fvisibility=hidden -I. \
                 $(addprefix -isystem ,$(CUPTI_DIR)/include $(wildcard $(CUDA_ROOT)/include))
CAPTURE_LIBS = -L$(CUPTI_DIR)/lib64 -Wl,-rpath,$(CUPTI_DIR)/lib64 -lcupti -lpthread -ldl

.PHONY: capture cuda
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
$(CUDA_PROGRAMS:%=$(CUDA)/%): $(CUDA)/%: $(CUDA)/%.o $(CUDA_LIBRARY:%=$(CUDA)/%.o)
	$(say) LD $@
	$(Q)$(NVCC) $(call CUDA_TARGET,$(CUDA_ARCH)) -o $@ $^ $(CUPTI_LIBS) $(if $(findstring /lib_,$@),-lcublas -lcublasLt)
