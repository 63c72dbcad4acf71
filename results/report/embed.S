/* embed.S - the report's page as the program carries it: the text that bundle.sh made, ending in a zero. */
#ifdef __APPLE__
	.const
	.globl _report_page, _report_page_end
#define report_page _report_page
#define report_page_end _report_page_end
#else
	.section .rodata
	.globl report_page, report_page_end
#endif
report_page:
	.incbin REPORT_PAGE
report_page_end:
	.byte 0
#ifdef __ELF__
	.section .note.GNU-stack,"",%progbits
#endif
