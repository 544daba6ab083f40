// SPDX-License-Identifier: GPL-2.0
/*
 * packet_verdicts SEND-IF LISTEN-IF FILE: compares agent/filter/filter_packet.c with libpcap. In:
 * frames of a capture file, each with its number in bytes 8 to 11. Standard input has one filter
 * per line: an expression, or "code" and the output of `tcpdump -ddd` with commas. Every frame is
 * sent for every filter, through the kernel, which removes its VLAN tag. Out: one line per wrong
 * verdict, and at the end the number of filters, frames, and accepted frames. A filter refused by
 * libpcap or the kernel gives a line too.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/filter/filter_packet.h"

#define FRAMES_MAX 4096
#define SNAPLEN 192

static struct {
	uint8_t *data;
	uint32_t len;
} frames[FRAMES_MAX];
static unsigned int frames_len;

static void fail(const char *what)
{
	fprintf(stderr, "packet_verdicts: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_frames(const char *file)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(file, why);
	struct pcap_pkthdr *h;
	const uint8_t *data;

	if (!p)
		fail(why);
	for (; frames_len < FRAMES_MAX && pcap_next_ex(p, &h, &data) == 1; frames_len++) {
		frames[frames_len].data = malloc(h->caplen);
		frames[frames_len].len = h->caplen;
		memcpy(frames[frames_len].data, data, h->caplen);
	}
	pcap_close(p);
}

static int open_socket(const char *interface)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), size = 64 << 20;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		fail(interface);
	return fd;
}

/* Receives frames and sets `heard` by their numbers. Returns how many there were. */
static unsigned int take(int fd, bool *heard)
{
	unsigned int n = 0;
	uint8_t b[65536];
	ssize_t len;

	while ((len = recv(fd, b, sizeof(b), MSG_DONTWAIT)) > 0) {
		uint32_t number;

		memcpy(&number, b + 8, sizeof(number));
		number = ntohl(number);
		if (len < 12 || number >= frames_len || heard[number]) {
			fprintf(stderr, "packet_verdicts: a frame that was not sent\n");
			exit(1);
		}
		heard[number] = true;
		n++;
	}
	return n;
}

/* Waits until the socket without a filter, which is served last, has all frames. */
static void send_all(int out, int all)
{
	static bool heard[FRAMES_MAX];
	struct pollfd p = { .fd = all, .events = POLLIN };
	unsigned int n = 0;

	memset(heard, 0, sizeof(heard));
	for (unsigned int i = 0; i < frames_len; i++)
		if (send(out, frames[i].data, frames[i].len, 0) < 0)
			fail("send");
	while ((n += take(all, heard)) < frames_len)
		if (poll(&p, 1, 5000) <= 0) {
			fprintf(stderr, "packet_verdicts: %u of %u frames came\n", n, frames_len);
			exit(1);
		}
}

static bool parse_code(struct filter *f, char *text)
{
	char *at = strtok(text, ",");

	f->len = at ? atoi(at) : 0;
	for (uint32_t i = 0; i < f->len; i++) {
		unsigned int code, jt, jf, k;

		at = strtok(NULL, ",");
		if (!at || sscanf(at, "%u %u %u %u", &code, &jt, &jf, &k) != 4)
			return false;
		f->code[i] = (struct sock_filter){ code, jt, jf, k };
	}
	return f->len;
}

static bool compile(struct filter *f, char *line)
{
	static pcap_t *dead;
	struct bpf_program p;

	if (!strncmp(line, "code ", 5))
		return parse_code(f, line + 5);
	if (!dead)
		dead = pcap_open_dead(DLT_EN10MB, 65535);
	if (pcap_compile(dead, &p, line, 1, PCAP_NETMASK_UNKNOWN)) {
		printf("%s: libpcap: %s\n", line, pcap_geterr(dead));
		return false;
	}
	f->len = p.bf_len;
	memcpy(f->code, p.bf_insns, p.bf_len * sizeof(f->code[0]));
	pcap_freecode(&p);
	return true;
}

static unsigned long accepted, wrong, longest;

/* Tries one filter, made for a capture of headers alone and of whole frames, in turn. */
static void try(int out, int in, int all, const struct filter *f, const char *line, bool headers)
{
	static struct sock_filter code[FILTER_PACKET_MAX];
	static bool heard[FRAMES_MAX];
	struct filter_packet how = {
		.tags = filter_packet_tags(in),
		.direction = headers ? DIRECTION_IN : DIRECTION_INOUT,
		.accept = headers ? SNAPLEN : 0x40000,
		.headers = headers,
	};
	struct sock_fprog p = { .filter = code };
	int len = filter_packet(code, f, &how);

	p.len = len;
	if (len < 0 || setsockopt(in, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p))) {
		printf("%s: not attached: %s\n", line, strerror(len < 0 ? -len : errno));
		return;
	}
	longest = (unsigned long)len > longest ? (unsigned long)len : longest;
	send_all(out, all);
	memset(heard, 0, sizeof(heard));
	accepted += take(in, heard);
	for (unsigned int i = 0; i < frames_len; i++) {
		bool expected = bpf_filter((const struct bpf_insn *)f->code, frames[i].data,
					   frames[i].len, frames[i].len);

		if (heard[i] != expected && ++wrong <= 100)
			printf("%s: frame %u: %d, libpcap %d\n", line, i, heard[i], expected);
	}
}

int main(int argc, char **argv)
{
	static struct filter f;
	static char line[1 << 20];
	unsigned int filters = 0;
	int out, in, all;

	if (argc != 4)
		return 2;
	read_frames(argv[3]);
	out = open_socket(argv[1]);
	all = open_socket(argv[2]);
	in = open_socket(argv[2]); /* the last one bound is served first */
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!compile(&f, line))
			continue;
		try(out, in, all, &f, line, filters & 1);
		filters++;
	}
	printf("%u filters, %u frames, %lu accepted, %lu wrong, longest %lu\n", filters, frames_len,
	       accepted, wrong, longest);
	return wrong ? 1 : 0;
}
