// SPDX-License-Identifier: GPL-2.0
/* Forward: see forward.h. */
#include "forward.h"

#include <sodium.h>
#include <string.h>

#include "collector/model/sensors.h"
#include "wire/bytes.h"
#include "wire/spool.h"

uint64_t forward_agree(const struct keypair *own, const uint8_t pair[KEY_LEN],
		       const struct tryst_hello *hello)
{
	uint8_t key[KEY_LEN];
	int err = -1;

	if (hello->flags & TRYST_SPOOL && hello->info_len >= SPOOL_HELLO_LEN)
		err = spool_unwrap(key, hello->info, own, pair);
	sodium_memzero(key, sizeof(key));
	return err ? 0 : load_be(hello->info, 8) ?: 1;
}

void forward_begin(struct forward *f, const struct keypair *own, const uint8_t pair[KEY_LEN],
		   const struct session *session)
{
	sodium_memzero(f, sizeof(*f));
	f->id = session->spool;
	if (f->id && (session->info_len < SPOOL_HELLO_LEN ||
		      spool_unwrap(f->key, (const uint8_t *)session->info, own, pair)))
		sodium_memzero(f->key, sizeof(f->key)); /* no memory for it: nothing opens */
}

const uint8_t *forward_open(const struct forward *f, uint8_t *out, size_t *len,
			    const struct sensor *s, uint64_t count, const uint8_t *record)
{
	uint8_t *combo = spool_open(out, len, f->key, s->ledger.run, count, record, *len);

	if (combo && *len >= COMBO_HEADER_LEN)
		store_be(combo + 2, s->id, 2); /* the sensor did not know it then */
	return combo;
}
