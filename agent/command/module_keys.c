// SPDX-License-Identifier: GPL-2.0
/* saluki module genkey and pubkey: Ed25519 keys in the format of saluki genkey. */
#include <sodium.h>
#include <unistd.h>

#include "agent/module/object.h"
#include "agent/module/signature.h"
#include "common/log.h"
#include "keygen.h"
#include "module.h"

const struct option_def module_key_defs[] = {
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

int module_genkey_main(int argc, char **argv)
{
	argv[0] = "module genkey";
	if (keygen_no_arguments(
		    argc, argv,
		    "Writes a new private key for signing modules, base64, to standard output. "
		    "Keep\n"
		    "it where modules are made, not on sensors. The policy needs the public key:\n"
		    "  (umask 077; saluki module genkey | tee sign.key | saluki module pubkey)"))
		return EXIT_USAGE;
	return keygen_new(keygen_random);
}

static int seed_read(uint8_t seed[KEY_LEN])
{
	char text[256] = "";
	size_t len = 0;
	ssize_t n;
	int err;

	while (len < sizeof(text) - 1 &&
	       (n = read(STDIN_FILENO, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	err = key_from_text(seed, text);
	sodium_memzero(text, sizeof(text));
	if (err)
		log_line("standard input: is no private key; make one with 'saluki module genkey'");
	return err;
}

int module_pubkey_main(int argc, char **argv)
{
	uint8_t seed[KEY_LEN], public[KEY_LEN];

	argv[0] = "module pubkey";
	if (keygen_no_arguments(argc, argv,
				"Reads a private key from standard input and writes its public "
				"key for 'Key =' in\nthe policy, base64, to standard output."))
		return EXIT_USAGE;
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	if (seed_read(seed))
		return 1;
	signature_public(public, seed);
	sodium_memzero(seed, sizeof(seed));
	return keygen_print(public);
}
