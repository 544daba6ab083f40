/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From an EtherType or an LLC header to the innermost EtherType, as bpf/view.h walks for modules.
 * Sources: IEEE 802.2, IEEE 802.1Q, RFC 1042, RFC 3032, RFC 4928.
 */
#ifndef DISSECT_NETWORK_H
#define DISSECT_NETWORK_H

#include "bpf/parse_frame.h"
#include "dissection.h"

#define ETHERTYPE_MIN 1536 /* less is a length: an LLC header follows */

/* `type`: the EtherType before the byte at `off`. A tag can have a length in its place. */
void network_ethertype(struct dissection *d, const struct frame *f, unsigned int off,
		       unsigned int type);
/* An LLC header at `off`, with `len` bytes to the end of its frame. Only SNAP with an OUI that
 * encapsulates Ethernet has an EtherType. */
void network_llc(struct dissection *d, const struct frame *f, unsigned int off, unsigned int len);

#endif
