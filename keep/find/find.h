/* SPDX-License-Identifier: GPL-2.0 */
/* The command saluki-keep find. */
#ifndef KEEP_FIND_FIND_H
#define KEEP_FIND_FIND_H

/* Returns the exit status. */
int find_main(int argc, char **argv);

#endif
