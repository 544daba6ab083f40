// SPDX-License-Identifier: GPL-2.0
/* saluki genkey, genpsk and pubkey: as those of wg(8), for both ends. */
#include "keygen.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/options/subcommands.h"
#include "common/log.h"
#include "common/options.h"
#include "wire/keys.h"

const struct option_def keygen_defs[] = {
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

int keygen_no_arguments(int argc, char **argv, const char *does)
{
	int id = options_next(keygen_defs, argc, argv);

	if (id == 'h') {
		printf("Usage: saluki %s\n\n%s\n\n", argv[0], does);
		options_print(stdout, keygen_defs);
		exit(0);
	}
	if (id == -1 && optind == argc)
		return 0;
	if (id == -1)
		log_line("%s: takes no arguments; see 'saluki %s --help'", argv[0], argv[0]);
	return -EINVAL;
}

int keygen_print(const uint8_t key[KEY_LEN])
{
	char text[KEY_TEXT_LEN];
	int failed;

	key_to_text(text, key);
	failed = puts(text) == EOF || fflush(stdout) == EOF;
	sodium_memzero(text, sizeof(text));
	if (failed)
		log_line("standard output: %s", strerror(errno));
	return failed ? 1 : 0;
}

int keygen_new(void (*make)(uint8_t key[KEY_LEN]))
{
	struct stat st;
	uint8_t key[KEY_LEN];
	int status;

	if (fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IRWXO))
		log_line("warning: the key goes to a file that others can read; use umask 077");
	if (keys_init()) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	make(key);
	status = keygen_print(key);
	sodium_memzero(key, sizeof(key));
	return status;
}

int genkey_main(int argc, char **argv)
{
	if (keygen_no_arguments(
		    argc, argv,
		    "Writes a new private key, base64, to standard output. Keep it in a file\n"
		    "that only root can read:\n"
		    "  (umask 077; saluki genkey | tee sensor.key | saluki pubkey > sensor.pub)"))
		return EXIT_USAGE;
	return keygen_new(key_generate);
}

void keygen_random(uint8_t key[KEY_LEN])
{
	randombytes_buf(key, KEY_LEN);
}

int genpsk_main(int argc, char **argv)
{
	if (keygen_no_arguments(
		    argc, argv,
		    "Writes a new preshared key, base64, to standard output. It goes into the\n"
		    "sensor's key file, as a line 'preshared KEY', and into the sensor's line of\n"
		    "the collector's --sensors file, after the public key."))
		return EXIT_USAGE;
	return keygen_new(keygen_random);
}

int pubkey_main(int argc, char **argv)
{
	struct keypair pair;
	const char *why;
	int status = 1;

	if (keygen_no_arguments(
		    argc, argv,
		    "Reads a private key from the first line of standard input and writes its\n"
		    "public key, base64, to standard output."))
		return EXIT_USAGE;
	if (keys_init())
		log_line("libsodium does not start on this machine");
	else if (keys_read(STDIN_FILENO, &pair, NULL, &why))
		log_line("standard input: %s", why);
	else
		status = keygen_print(pair.public);
	sodium_memzero(&pair, sizeof(pair));
	return status;
}
