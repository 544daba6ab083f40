/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool: what both ends know of combos that wait in a sensor's file (docs/wire.md, "Spool"). In:
 * combos, the keys of a sensor and its collectors. Out: records that the sensor itself cannot open
 * any more once it was started again; it forwards them, and the collector opens them. How they lie
 * in the file is the sensor's own (agent/export/spool_file.h).
 */
#ifndef WIRE_SPOOL_H
#define WIRE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "combo.h"
#include "derive.h"
#include "info.h"
#include "keys.h"

#define SPOOL_WRAPPED_LEN (KEY_LEN + DERIVE_TAG_LEN)
#define SPOOL_HELLO_LEN (KEY_LEN + SPOOL_WRAPPED_LEN) /* E, the wrapped key; ahead of the info */
#define SPOOL_NAME_LEN 16			      /* run and count, sealed ahead of the combo */
#define SPOOL_RECORD_OVERHEAD (DERIVE_FRESH_LEN + SPOOL_NAME_LEN + DERIVE_TAG_LEN)
#define SPOOL_RECORD_MAX (COMBO_WIRE_MAX + SPOOL_RECORD_OVERHEAD)
_Static_assert(SPOOL_HELLO_LEN + INFO_LASTING_MAX <= INFO_LEN_MAX, "a hello has both");

/* The file's key for one collector. `own` is the file's ephemeral pair (E), which is wiped when the
 * key is wrapped for all of them. Returns 0, or -EBADMSG where the collector's public key is none.
 */
int spool_wrap(uint8_t wrapped[SPOOL_WRAPPED_LEN], const struct keypair *own,
	       const uint8_t pair[KEY_LEN], const uint8_t peer[KEY_LEN],
	       const uint8_t key[KEY_LEN]);
/* The collector: the key out of E and what was wrapped. Returns 0 or -EBADMSG. */
int spool_unwrap(uint8_t key[KEY_LEN], const uint8_t hello[SPOOL_HELLO_LEN],
		 const struct keypair *own, const uint8_t pair[KEY_LEN]);

/* Seals the combo (run, count) as a record, under a key of its own: two processes that were resumed
 * from one snapshot, or that have copies of one file's key, seal no two records under one. `out`
 * takes len + SPOOL_RECORD_OVERHEAD, and `in` is behind its first DERIVE_FRESH_LEN + SPOOL_NAME_LEN
 * bytes or elsewhere. Returns the record's bytes. */
size_t spool_seal(uint8_t *out, const uint8_t key[KEY_LEN], uint64_t run, uint64_t count,
		  const uint8_t *combo, size_t len);
/* Opens a record, which must be of that name, into `out` (SPOOL_RECORD_MAX), which is elsewhere or
 * is the record's byte DERIVE_FRESH_LEN. Returns the combo there, with its bytes in `*combo_len`,
 * or NULL. */
uint8_t *spool_open(uint8_t *out, size_t *combo_len, const uint8_t key[KEY_LEN], uint64_t run,
		    uint64_t count, const uint8_t *record, size_t len);

#endif
