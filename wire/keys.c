// SPDX-License-Identifier: GPL-2.0
/* Keys: see keys.h. In: key files. Out: key pairs. Wipes all copies of secrets. */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

_Static_assert(KEY_LEN == crypto_scalarmult_BYTES, "X25519");

/* Whether the kernel's random numbers are ready, which may be false soon after boot. Before Linux
 * 3.17 a file in /proc shows it. */
static bool random_ready(void)
{
	struct pollfd random = { .events = POLLIN };
	uint8_t byte;
	bool ready;

	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		return true;
	if (errno == EAGAIN)
		return false;
	random.fd = open("/dev/random", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (random.fd < 0)
		return true; /* libsodium does not wait for it either */
	ready = poll(&random, 1, 0) == 1;
	close(random.fd);
	return ready;
}

int keys_init(void)
{
	if (!random_ready())
		log_line("waiting until the kernel has random numbers; network traffic and typing "
			 "speed this up");
	return sodium_init() < 0 ? -ENOSYS : 0;
}

void key_generate(uint8_t secret[KEY_LEN])
{
	randombytes_buf(secret, KEY_LEN);
	/* As RFC 7748 section 5 clamps it, so that the text shows the key that is used. */
	secret[0] &= 248;
	secret[31] = (secret[31] & 127) | 64;
}

int key_public(uint8_t public[KEY_LEN], const uint8_t secret[KEY_LEN])
{
	static const uint8_t base[KEY_LEN] = { 9 }; /* RFC 7748, section 6.1 */

	if (sodium_is_zero(secret, KEY_LEN))
		return -EINVAL;
	/* crypto_scalarmult_base() is quicker, by a table of 30 KB that the AP70 has no flash for.
	 */
	return crypto_scalarmult(public, secret, base) ? -EINVAL : 0;
}

void key_to_text(char text[KEY_TEXT_LEN], const uint8_t key[KEY_LEN])
{
	sodium_bin2base64(text, KEY_TEXT_LEN, key, KEY_LEN, sodium_base64_VARIANT_ORIGINAL);
}

void key_to_short(char text[KEY_SHORT_LEN], const uint8_t key[KEY_LEN])
{
	char whole[KEY_TEXT_LEN];

	key_to_text(whole, key);
	memcpy(text, whole, KEY_SHORT_LEN - 1);
	text[KEY_SHORT_LEN - 1] = 0;
}

int key_from_text(uint8_t key[KEY_LEN], const char *text)
{
	const char *end;
	size_t len;

	text += strspn(text, " \t");
	if (sodium_base642bin(key, KEY_LEN, text, strcspn(text, " \t\r\n"), NULL, &len, &end,
			      sodium_base64_VARIANT_ORIGINAL) ||
	    len != KEY_LEN)
		return -EINVAL;
	return end[strspn(end, " \t\r\n")] ? -EINVAL : 0;
}

bool key_is_text(const char *path)
{
	uint8_t key[KEY_LEN];
	bool is = key_from_text(key, path) == 0;

	sodium_memzero(key, sizeof(key));
	return is;
}

static const char second_line[] = "the second line is not the collector's public key; append it "
				  "('saluki pubkey' prints it from the collector's private key)";

/* Returns the line at `*text`, terminated, and moves `*text` past it. Returns NULL after the last
 * one. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = 0;
	*text = end ? end + 1 : NULL;
	return line;
}

static bool is_blank(const char *line)
{
	return !line[strspn(line, " \t\r")];
}

static const char *next_parse(const char *text, const struct keypair *own, struct keys_peer *p)
{
	if (!sodium_is_zero(p->next, KEY_LEN))
		return "it has more than one 'next' for a collector";
	if (key_from_text(p->next, text) || sodium_is_zero(p->next, KEY_LEN))
		return "what is behind 'next' is not a public key ('saluki pubkey' prints it)";
	if (!sodium_memcmp(p->next, own->public, KEY_LEN) ||
	    !sodium_memcmp(p->next, p->public, KEY_LEN))
		return "what is behind 'next' is this sensor's own public key, or the collector's "
		       "present one";
	return NULL;
}

/* Reads a line after the first. Returns NULL, or the reason if it is malformed. */
static const char *peer_parse(const char *line, const struct keypair *own, struct keys_peers *p)
{
	static const char preshared[] = "preshared ", next[] = "next ";
	size_t len = sizeof(preshared) - 1, next_len = sizeof(next) - 1;

	if (is_blank(line))
		return NULL;
	if (p->count && !strncmp(line, preshared, len))
		return key_from_text(p->peer[p->count - 1].preshared, line + len)
			       ? "what is behind 'preshared' is not a key; make one with "
				 "'saluki genpsk'"
			       : NULL;
	if (p->count && !strncmp(line, next, next_len))
		return next_parse(line + next_len, own, &p->peer[p->count - 1]);
	if (p->count == KEYS_PEERS_MAX)
		return "it has the public keys of more than four collectors";
	if (key_from_text(p->peer[p->count].public, line))
		return p->count ? "a line behind the second is neither a collector's public key "
				  "nor 'preshared' or 'next' and a key"
				: second_line;
	return sodium_memcmp(p->peer[p->count++].public, own->public, KEY_LEN)
		       ? NULL
		       : "the second line is this sensor's own public key; it must be the "
			 "collector's";
}

static int peers_parse(char *text, const struct keypair *own, struct keys_peers *p,
		       const char **why)
{
	char *line;

	memset(p, 0, sizeof(*p));
	while ((line = next_line(&text))) {
		*why = peer_parse(line, own, p);
		if (*why)
			return -EINVAL;
	}
	*why = second_line;
	return p->count ? 0 : -EINVAL;
}

static int keys_parse(char *text, struct keypair *own, struct keys_peers *peers, const char **why)
{
	char *first = next_line(&text);

	*why = "the first line is not a private key; make one with 'saluki genkey'";
	if (!first || key_from_text(own->secret, first) || key_public(own->public, own->secret))
		return -EINVAL;
	return peers ? peers_parse(text, own, peers, why) : 0;
}

int keys_read(int fd, struct keypair *own, struct keys_peers *peers, const char **why)
{
	char text[1024] = "";
	size_t len = 0;
	ssize_t n;
	int err;

	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) != 0) {
		if (n < 0) {
			*why = strerror(errno);
			return -EINVAL;
		}
		len += n;
	}
	err = keys_parse(text, own, peers, why);
	sodium_memzero(text, sizeof(text));
	return err;
}

void keys_lock(const void *p, size_t len)
{
	static bool told;

	if (mlock(p, len) == 0 || told)
		return;
	told = true;
	log_line("warning: keys are in memory that may be swapped out: %s; raise the limit of "
		 "locked memory (ulimit -l)",
		 strerror(errno));
}

bool keys_private(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & (S_IRWXG | S_IRWXO));
}
