# measured.mk - what is derived from measurements and models, each by one command and never by `all`. A part of the Makefile.

##> The GPU's model and what was measured
H200 = $(BUILD)/h200
# The first sweep's operands had just been written: its times hold what was still leaving the L2, which the model does not.
$(H200)/operators.db: $(wildcard traces/h200/operators/*.json.gz)
$(H200)/sweep2.db: $(wildcard traces/h200/sweep/sweep2_*.json.gz)
$(H200)/sweep.db: $(wildcard traces/h200/sweep/*.json.gz)
$(H200)/attention.db: traces/h200/micro/attention.json.gz
$(H200)/attention-h100.db: traces/h100/micro/attention.json.gz
$(H200)/%.db: $B/npusim
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$B/npusim trace import $(filter %.gz,$^) -o $@ >/dev/null

.PHONY: calibrate-h200 carry accuracy ablation studies claims validate silicon kineto-links
# Exit 1 when the values differ from those committed. The plan's starts do not depend on the file, so it may be its own base.
calibrate-h200: $(H200)/operators.db $(H200)/sweep2.db ## fit configs/gpu/h200.yaml anew from the committed measurements, and compare
	$(Q)$B/npusim calibrate -c configs/gpu/h200.yaml -p configs/calibrate/h200.yaml $(patsubst %,-t %,$^) -o $(H200)/fitted.yaml --check

carry: $B/npusim ## the H200's fitted values into the other devices' configurations, by the rules stated there
	$(Q)sh validate/tools/carry.sh $B/npusim

accuracy: $(H200)/operators.db $(H200)/sweep.db ## what validation finds, into validate/ACCURACY.md and configs/accuracy
	@mkdir -p configs/accuracy
	@sh validate/tools/accuracy.sh $B/npusim $(H200)

ablation: $(H200)/attention.db $(H200)/attention-h100.db ## asynchronous copy on and off in our attention kernels, measured and simulated: H200 and H100
	@sh validate/tools/ablation.sh $B/npusim h200 $(H200)/attention.db
	@echo; echo "the same on an H100, nothing fitted to it"
	@sh validate/tools/ablation.sh $B/npusim h100 $(H200)/attention-h100.db

validate: all ## the models against better ones and against real devices; tables and plots in build/validate
	$(Q)$(NPUSIM_HERE) OUT='$(BUILD)/validate' sh validate/tools/validate.sh

STUDIES = report-tables report-npu review-facts software-recommendations gb200-roofline l4-attention h100-attention \
          batching kv-cache quantisation fusion gqa context-scaling scale-out apart ask-kernels ask-stages ask-npu ask-review ask-h100 ask-l4 ask-gb200
studies: all ## the questions of configs/studies answered: pages in results/studies, claims with verdicts in validate/CLAIMS.md
	$(Q)mkdir -p results/studies
	$(Q)$B/npusim study $(STUDIES:%=configs/studies/%.yaml) --pages results/studies --markdown validate/CLAIMS.md >$B/studies.txt
	@sed -n '3p' validate/CLAIMS.md
claims: all ## every figure of validate/CLAIMS.md and its pages worked out again; says which differ by more than their tolerance
	$(Q)python3 validate/tools/stale.py $B/npusim $(STUDIES:%='claims %')

silicon: all ## NPUs against timings that others took on them: by data sheet, by ten rows, roofline beside
	@sh validate/tools/silicon.sh $B/npusim

kineto-links: all ## how kernels of real Kineto files came to their operators, and how many were tied to wrong ones by the id alone
	@sh validate/tools/kineto_links.sh $B/npusim $T/data/kineto/old_ids.json $(wildcard ../shared/samples/kineto_json/*)
