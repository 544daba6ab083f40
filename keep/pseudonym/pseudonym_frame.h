/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame with pseudonyms. In: an untrusted frame of any link type. Out: a prefix of it, as far as
 * it is understood, in which addresses and SSIDs are replaced. A byte is copied only if it is known
 * not to name anybody; others become zeros, or the frame ends before them. Offsets stay.
 *
 * Ethernet: addresses, VLAN tags and EtherType. 802.11, after its capture header: the MAC header;
 * of management frames also fixed fields and elements (pseudonym_elements.h), of encrypted data the
 * packet number, of control frames what is behind the addresses, if it is known. There is no FCS,
 * which is a sum of the original bytes. Other link types: nothing, or zeros where other programs
 * need a pseudo-header.
 */
#ifndef KEEP_PSEUDONYM_PSEUDONYM_FRAME_H
#define KEEP_PSEUDONYM_PSEUDONYM_FRAME_H

#include "pseudonym.h"

/* `kept`: bytes of `frame`, and room in `out`; `whole`: bytes on the wire. Returns how many bytes
 * `out` has, at most `kept`. */
uint32_t pseudonym_frame(struct pseudonyms *p, uint16_t linktype, uint8_t *out,
			 const uint8_t *frame, uint32_t kept, uint32_t whole);

#endif
