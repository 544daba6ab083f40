/* SPDX-License-Identifier: GPL-2.0 */
/* The one place where the version stands. */
#ifndef SALUKI_VERSION_H
#define SALUKI_VERSION_H

#define SALUKI_VERSION "0.1.0"

#endif
