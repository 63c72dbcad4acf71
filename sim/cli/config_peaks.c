/* config_peaks.c - npusim config peaks: what machines multiply at most by format, and at how many operations a byte of
 * memory that is reached. */
#include "sim/cli/config_rows.h"
#include "sim/report/peaks_doc.h"

static int config_peaks_put(const char *path, const struct machine_conf *c, struct doc *d, struct err *e)
{
	(void)path;
	return peaks_doc(d, c, e);
}

int cmd_config_peaks(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct config_rows rows = {
		"npusim config peaks CONFIG...",
		"What a machine multiplies at most, by the formats of the operands: the fastest unit, TFLOP/s (a"
		" multiply-add counts two), and the ridge, FLOP a byte above which memory no longer holds it back: over the"
		" bandwidth of the pins (ridge) and over what a stream was measured to read (ridge_read; of an NPU the pins"
		" too), area and the power that no run takes more of: all of an NPU at full rate at once, of a GPU its board's cap"
		" (area_mm2, peak_w: 'npusim config area'; arch/machine/machine_ceiling.h), and the peak and the pins' GB/s a mm2 and a watt of that. Scales of nvfp4 and mxfp4 are bytes, and multiply for nothing. An empty cell: nothing multiplies"
		" them as they are.",
		"npusim config peaks configs/gpu/gb200.yaml configs/gpu/rtx5090.yaml\n"
		"npusim config peaks configs/npu/dsocr.yaml --set matrix.rate_4bit=8 --format csv\n",
		config_peaks_put
	};

	return config_rows(&rows, argc, argv, out, e);
}
