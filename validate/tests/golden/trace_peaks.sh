# Peaks of a device that no file describes: what classify takes, how to give them, and that it borrows no other card's.
# figures: shown
. validate/tests/golden/common
cd "$TMP" || exit 1
as() { # FILE NAME SMS: the small trace as if of that device
	sed "s/\"name\": \"[^\"]*\", \"totalGlobalMem\"/\"name\": \"$2\", \"totalGlobalMem\"/; s/\"numSms\": [0-9]*/\"numSms\": $3/" \
		"$OLDPWD/$SMALL" >"$1.json"
	quiet trace import "$1.json" -o "$1.db"
}
as v100 "Tesla V100-SXM2-32GB" 80
as pcie "NVIDIA H100 PCIe" 114
as laptop "NVIDIA GeForce RTX 4090" 76
as blank "" 132
for card in v100 pcie laptop blank; do try trace classify $card.db; done
try trace classify v100.db --peak '900 GB/s, fp32 15.7, bf16 125'
try trace roofline v100.db --peak '900 GB/s, bf16 125' --format csv
try trace classify v100.db --peak '900 GB/s, fp16 125'
try trace classify v100.db --peak 900
try trace classify v100.db --peak '900 GB/s' -c configs/gpu/h200.yaml
