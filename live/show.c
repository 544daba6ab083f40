// SPDX-License-Identifier: GPL-2.0
/* Show: see show.h. */
#include "show.h"

#include <errno.h>

#include "common/log.h"

int show_start(void)
{
	log_line("-w is missing: where shall the frames go? 'saluki-live -w - | tshark -r -' "
		 "prints them");
	return -EINVAL;
}
