/* shells.h - scripts that let shells complete.
 *
 * They know nothing: at every key they ask `npusim completion query -- WORD...`, so what is completed is what
 * this build's tables say. The answer is a line a candidate, WORD<tab>HELP, or one line ":files" with the endings of
 * the files that are wanted. */
#ifndef NPUSIM_SIM_UI_SHELLS_H
#define NPUSIM_SIM_UI_SHELLS_H

const char *shells_script(const char *shell); /* "bash", "zsh" or "fish"; NULL: it is none of them */

#endif
