// SPDX-License-Identifier: GPL-2.0
/* Why: see why.h. */
#include "why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "board.h"

const char *board_why(char out[BOARD_WHY_MAX], const char *path, int err)
{
	const char *why = strerror(-err);

	if (err == -EACCES || err == -EPERM)
		why = "no permission; are you in the group " BOARD_GROUP
		      "? ('usermod -a -G " BOARD_GROUP " NAME', and log in again)";
	else if (err == -ENOENT || err == -ECONNREFUSED)
		why = "no collector is there; is saluki-collector running on this machine?";
	else if (err == -EPROTO)
		why = "the collector has another version than this program";
	else if (err == -EBADMSG)
		why = "the collector's numbers contradict each other";
	else if (err == -ETIMEDOUT)
		why = "the collector does not renew its state";
	else if (err == -ENODATA || err == -EAGAIN)
		why = "the collector shows no state yet; try again in a second";
	snprintf(out, BOARD_WHY_MAX, "%.100s: %s", path, why);
	return out;
}
