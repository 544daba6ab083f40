// SPDX-License-Identifier: GPL-2.0
/* Handshake forward: see handshake_forward.h. */
#include "handshake_forward.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "collector/combo/sensor.h"
#include "sensor.h"
#include "wire/bytes.h"
#include "wire/spool.h"

/* An earlier process may have wrapped its key under an earlier pair of keys. */
static int unwrap(uint8_t key[KEY_LEN], const uint8_t *hello, const struct handshake *m,
		  const struct sensor *s)
{
	int err = -EBADMSG;

	for (unsigned int i = 0; i < SENSOR_PAIRS && err; i++)
		if (sensor_has_pair(s, i))
			err = spool_unwrap(key, hello, &m->own[i & SENSOR_PAIR_OLD],
					   sensor_pair(s, i)->shared);
	return err;
}

uint64_t handshake_forward_agree(const struct handshake *m, const struct sensor *s,
				 const struct tryst_hello *hello)
{
	uint8_t key[KEY_LEN];
	int err = -1;

	if (hello->flags & TRYST_SPOOL && hello->info_len >= SPOOL_HELLO_LEN)
		err = unwrap(key, hello->info, m, s);
	sodium_memzero(key, sizeof(key));
	return err ? 0 : load_be(hello->info, 8) ?: 1;
}

/* If `info` was dropped for lack of memory, the key is missing too, and no record opens. */
void handshake_forward_terms(struct run_terms *t, const struct handshake *m, const struct sensor *s,
			     struct session *session)
{
	struct sensor_info *info = &session->info;
	size_t hello_len = session->spool && info->text ? SPOOL_HELLO_LEN : 0;

	memset(t, 0, sizeof(*t));
	t->run = session->run;
	t->forward.id = session->spool;
	if (hello_len && unwrap(t->forward.key, (uint8_t *)info->text, m, s))
		sodium_memzero(t->forward.key, sizeof(t->forward.key));
	info->len -= hello_len;
	if (hello_len)
		memmove(info->text, info->text + hello_len, info->len + 1);
	t->info = *info;
	*info = (struct sensor_info){ 0 };
}
