/* embed.S - the pages as the program carries them, ending in a zero: the report's, which bundle.sh made, and that of npusim page;
 * and what draws a chart of the report's without a browser. */
#ifdef __APPLE__
	.const
	.globl _report_page, _report_page_end, _live_page, _draw_script
#define live_page _live_page
#define draw_script _draw_script
#define report_page _report_page
#define report_page_end _report_page_end
#else
	.section .rodata
	.globl report_page, report_page_end, live_page, draw_script
#endif
report_page:
	.incbin REPORT_PAGE
report_page_end:
	.byte 0
live_page:
	.incbin LIVE_PAGE
	.byte 0
draw_script:
	.incbin "results/report/draw.js"
	.byte 0
#ifdef __ELF__
	.section .note.GNU-stack,"",%progbits
#endif
