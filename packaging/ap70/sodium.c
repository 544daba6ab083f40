// SPDX-License-Identifier: GPL-2.0
/* In place of the parts of libsodium that sodium_init() prepares and the sensor does not use. */
int _crypto_pwhash_argon2_pick_best_implementation(void);
int _crypto_stream_salsa20_pick_best_implementation(void);

int _crypto_pwhash_argon2_pick_best_implementation(void)
{
	return 0;
}

int _crypto_stream_salsa20_pick_best_implementation(void)
{
	return 0;
}
