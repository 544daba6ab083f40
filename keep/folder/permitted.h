/* SPDX-License-Identifier: GPL-2.0 */
/* Permitted: whether the collectors of a folder leave its files to this program. */
#ifndef KEEP_FOLDER_PERMITTED_H
#define KEEP_FOLDER_PERMITTED_H

#include <stdbool.h>

#include "common/space.h"
#include "listing.h"

/* Looks at the newest file of each series. `min_free`: NULL: not given. Returns 0, or -EPERM after
 * a line: a collector deletes the files itself (-W), or leaves as much free as this program. */
int permitted(int folder, const struct listing *l, const struct space *min_free);

#endif
