/* SPDX-License-Identifier: GPL-2.0 */
/* Same: whether two forms of a stem (form.h) are of one capture. */
#ifndef KEEP_FOLDER_SAME_H
#define KEEP_FOLDER_SAME_H

#include <stdint.h>

/* A program that was killed can have compressed a capture, and not have removed it: then the index
 * beside both says so. Returns 0 if it does, or if there is no compressed file; -EEXIST if that
 * file is of another capture. `bytes`: of the capture file. */
int same_capture(int folder, const char *stem, uint64_t bytes);

#endif
