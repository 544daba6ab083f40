// SPDX-License-Identifier: GPL-2.0
/* links: dissect/ppi.o dissect/prism.o dissect/radio.o dissect/radiotap.o print/line.o
 * print/line_dns.o print/line_dot11.o print/line_icmp.o print/line_ip.o print/line_management.o
 * print/line_network.o print/line_radio.o print/stamp.o print/text.o wire/channel.o */
#include "unit.h"

#include "print/line.h"

static struct text text;
static const struct print_options plain = { .stamp = 1 };

/* The line of a frame, which is given in hexadecimal and can be longer on the wire. */
static const char *line_of(uint16_t linktype, const char *hex, uint32_t orig_len,
			   const struct print_options *o)
{
	static uint8_t *bytes;
	struct stamp s;
	struct pcap_frame f = { .linktype = linktype };

	free(bytes);
	bytes = malloc(strlen(hex) / 2 + 1);
	for (; *hex; hex++)
		if (*hex != ' ') {
			unsigned int v;

			assert_int_equal(sscanf(hex++, "%2x", &v), 1);
			bytes[f.cap_len++] = v;
		}
	bytes = realloc(bytes, f.cap_len + !f.cap_len); /* sanitizers find what is beyond */
	f.data = bytes;
	f.orig_len = orig_len ?: f.cap_len;
	stamp_init(&s, o->stamp);
	line_make(&text, &s, &f, NULL, o);
	return text.bytes;
}

#define ETHER "020000000002 020000000001 "
#define IP4(len, proto)                                                                            \
	ETHER "0800 4500" len "000100004"                                                          \
	      "0" proto "0000 0a000001 0a000002 "
#define IP6(len, next)                                                                             \
	ETHER "86dd 60000000" len next "40 20010db8000000000000000000000001 "                      \
	      "20010db8000000000000000000000002 "

static void ethernet(void **state)
{
	static const struct {
		const char *frame, *line;
	} cases[] = {
		{ ETHER "0806 0001080006040001 020000000001 0a000001 000000000000 0a000002",
		  "ARP, Request who-has 10.0.0.2 tell 10.0.0.1, length 28" },
		{ ETHER "0806 0001080006040002 020000000001 0a000001 000000000000 0a000002",
		  "ARP, Reply 10.0.0.1 is-at 02:00:00:00:00:01, length 28" },
		{ ETHER "8035 0001080006040003 020000000001 0a000001 020000000005 0a000002",
		  "Reverse ARP, Reverse Request who-is 02:00:00:00:00:05 tell 02:00:00:00:00:01, "
		  "length 28" },
		{ ETHER "0806 00010800", "ARP, [|arp], length 4" },
		{ ETHER "8100 6064 0806 00010800060400", "vlan 100, p 3, ARP, [|arp], length 7" },
		{ ETHER "8100 60", "[|vlan], length 1" },
		{ ETHER "888e 02030010", "EAPOL key (3) v2, len 16, length 4" },
		{ ETHER "0026 424203 00", "LLC, dsap 0x42, ssap 0x42, ctrl 0x03, STP, length 4" },
		{ ETHER "0008 aaaa03 000000 88cc", "LLDP (0x88cc), length 0" },
		{ ETHER "8864 11000005 0006 0021 45", "PPPoE [ses 0x5] IP [|ip], length 1" },
		{ ETHER "8847 00010040 00011140 45", "MPLS (label 16, tc 0, ttl 64) (label 17, tc "
						     "0, [S], ttl 64) IP [|ip], length 1" },
		{ "0200", "[|ether], length 2" },
		{ "", "[|ether], length 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(line_of(1, cases[i].frame, 0, &plain), cases[i].line);
	assert_string_equal(
		line_of(1, ETHER "88cc 00", 0, &(struct print_options){ .stamp = 1, .link = true }),
		"02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype LLDP (0x88cc), length 15: LLDP "
		"(0x88cc), length 1");
}

static void transport(void **state)
{
	static const struct {
		const char *frame, *line;
	} cases[] = {
		{ IP4("002b", "06") "04d20050 00000064 00000007 50180400 00000000 616263",
		  "IP 10.0.0.1.1234 > 10.0.0.2.80: Flags [P.], seq 100:103, ack 7, win 1024, "
		  "length 3" },
		{ IP4("0028", "06") "04d20050 ffffffff 00000000 50020400 00000000",
		  "IP 10.0.0.1.1234 > 10.0.0.2.80: Flags [S], seq 4294967295, win 1024, length 0" },
		{ IP4("0028", "06") "04d20050 00000000 00000000 50e00400 00000009",
		  "IP 10.0.0.1.1234 > 10.0.0.2.80: Flags [UEW], win 1024, urg 9, length 0" },
		{ IP4("0028", "06") "04d20050 00000000 00000000 00000400 00000009",
		  "IP 10.0.0.1.1234 > 10.0.0.2.80: Flags [none] [bad hdr length 0, length 20]" },
		{ IP4("0028", "06") "04d20050 0000", "IP 10.0.0.1.1234 > 10.0.0.2.80: [|tcp]" },
		{ IP4("0028", "06") "04d2", "IP 10.0.0.1 > 10.0.0.2: [|tcp]" },
		{ IP4("001e", "11") "04d21389 000a0000 6161",
		  "IP 10.0.0.1.1234 > 10.0.0.2.5001: UDP, length 2" },
		{ IP4("001e", "11") "04d21389 00ff0000 6161",
		  "IP 10.0.0.1.1234 > 10.0.0.2.5001: [bad udp length 255, length 10]" },
		{ IP4("001c", "01") "08000000 00070001",
		  "IP 10.0.0.1 > 10.0.0.2: ICMP echo request, id 7, seq 1, length 8" },
		{ IP4("0038",
		      "01") "03030000 00000000 4500001c 00000000 40110000 0a000002 0a000001 "
			    "04d20035 00080000",
		  "IP 10.0.0.1 > 10.0.0.2: ICMP 10.0.0.1 udp port 53 unreachable, length 36" },
		{ IP4("001c", "01") "03030000 00000000",
		  "IP 10.0.0.1 > 10.0.0.2: ICMP unreachable code 3 [|icmp], length 8" },
		{ IP4("001c", "2f") "00000800 00000000", "IP 10.0.0.1 > 10.0.0.2: GRE, length 8" },
		{ IP4("0015", "fd") "00", "IP 10.0.0.1 > 10.0.0.2: ip-proto-253, length 1" },
		{ IP4("0028", "04") "45000014 00000000 40fd0000 01010101 02020202",
		  "IP 10.0.0.1 > 10.0.0.2: IP 1.1.1.1 > 2.2.2.2: ip-proto-253, length 0" },
		{ ETHER "0800 4500001c 00000005 40110000 0a000001 0a000002 0011223344556677",
		  "IP 10.0.0.1 > 10.0.0.2: ip-proto-17, fragment at 40, length 8" },
		{ ETHER "0800 44000014 00000000 40110000 0a000001 0a000002",
		  "IP [malformed], length 20" },
		{ ETHER "0800 4500", "IP [|ip], length 2" },
		{ IP6("0008", "3a") "80000000 00070001",
		  "IP6 2001:db8::1 > 2001:db8::2: ICMP6, echo request, id 7, seq 1, length 8" },
		{ IP6("0018", "3a") "87000000 00000000 fe800000000000000000000000000001",
		  "IP6 2001:db8::1 > 2001:db8::2: ICMP6, neighbor solicitation, who has fe80::1, "
		  "length 24" },
		{ IP6("0010", "2c") "11000009 00000001 0011223344556677",
		  "IP6 2001:db8::1 > 2001:db8::2: frag (8|8)" },
		{ IP6("0010", "00") "1100000000000000 04d21389 00080000",
		  "IP6 2001:db8::1.1234 > 2001:db8::2.5001: UDP, length 0" },
		{ IP6("0010", "00") "1100", "IP6 2001:db8::1 > 2001:db8::2: [|ip6 extension 0]" },
		{ ETHER "86dd 60", "IP6 [|ip6], length 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(line_of(1, cases[i].frame, 0, &plain), cases[i].line);
}

/* The line behind the addresses of a DNS message that the name server port gets. */
static const char *dns(const char *message)
{
	char frame[2048];
	unsigned int len = 0;

	for (const char *p = message; *p; p++)
		len += *p != ' ';
	snprintf(frame, sizeof(frame),
		 ETHER "0800 4500%04x 00010000 40110000 0a000001 0a000002 04d20035 %04x0000 %s",
		 28 + len / 2, 8 + len / 2, message);
	line_of(1, frame, 0, &plain);
	assert_memory_equal(text.bytes, "IP 10.0.0.1.1234 > 10.0.0.2.53: ", 32);
	return text.bytes + 32;
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(dns("0001 0100 0001 0000 0000 0000 026162 0163 00 0001 0001"),
			    "1+ A? ab.c. (22)");
	assert_string_equal(dns("0001 0110 0001 0000 0000 0001 00 0002 0001"),
			    "1+% NS? . [1au] (17)");
	assert_string_equal(dns("0001 8583 0001 0000 0001 0002 026162 00 001c 0003"),
			    "1* NXDomain q: class 3 AAAA? ab. 0/1/2 (20)");
	/* pointers: back, to itself, ahead */
	assert_string_equal(dns("0001 0000 0002 0000 0000 0000 0161 00 0001 0001 c00c 0001 0001"),
			    "1 A? a. A? a. (25)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 c00c 0001 0001"),
			    "1 <bad pointer> (18)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 c010 0001 0001 00"),
			    "1 <bad pointer> (19)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 8000 0001"), "1 <bad label> (16)");
	/* cut */
	assert_string_equal(dns("0001 0000 0001"), "[|domain] (6)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000"), "1 [|domain] (12)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 056162"), "1 [|domain] (15)");
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 0161 00 00"), "1 a. [|domain] (16)");
	/* bytes that are no text, and dots inside labels */
	assert_string_equal(dns("0001 0000 0001 0000 0000 0000 06 2e5c20 1b 61ff 00 0001 0001"),
			    "1 A? \\.\\\\\\032\\027a\\255. (24)");
}

#define RADIOTAP "00000f00 2a000000 00 00 6c09 0000 ce " /* flags, channel 1, -50 dBm */
#define RA "020000000002 "
#define TA "020000000001 "
#define NET "020000000003 "

static void dot11(void **state)
{
	static const struct {
		const char *frame, *line;
	} cases[] = {
		{ "80000000 " RA TA NET "0000 0000000000000000 6400 1100 00046c6f6e67 030106",
		  "Beacon RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 BSSID:02:00:00:00:00:03 "
		  "\"long\" CH: 6 "
		  "PRIVACY, length 45" },
		{ "40080000 " RA TA RA "0000 0000",
		  "Retry Probe Request RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 \"\", length 26" },
		{ "40000000 " RA TA RA "0000 0004225c0a1b",
		  "Probe Request RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 \"\\\"\\\\\\x0a\\x1b\", "
		  "length 30" },
		{ "40000000 " RA TA RA "0000 0005616263",
		  "Probe Request RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 [|802.11], length 29" },
		{ "b0000000 " RA TA RA "0000 0300 0100 0000",
		  "Authentication RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 (SAE)-1, status 0, "
		  "length 30" },
		{ "c0000000 " RA TA RA "0000 0700", "DeAuthentication RA:02:00:00:00:00:02 "
						    "TA:02:00:00:00:00:01 reason 7, length 26" },
		{ "c0400000 " RA TA RA "0000 0700",
		  "Protected DeAuthentication RA:02:00:00:00:00:02 TA:02:00:00:00:00:01, length "
		  "26" },
		{ "10000000 " RA TA TA "0000 1100 0000 01c0",
		  "Assoc Response RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 status 0 AID 1, length "
		  "30" },
		{ "d4000000 " RA, "Acknowledgment RA:02:00:00:00:00:02, length 10" },
		{ "b4000000 " RA TA,
		  "Request-To-Send RA:02:00:00:00:00:02 TA:02:00:00:00:00:01, length 16" },
		{ "b4000000 " RA, "Request-To-Send RA:02:00:00:00:00:02 [|802.11], length 10" },
		{ "88410000 " RA TA NET "0000 0000", "Protected QoS Data RA:02:00:00:00:00:02 "
						     "TA:02:00:00:00:00:01 DA:02:00:00:00:00:03, "
						     "length 26" },
		{ "08020000 " RA TA NET "0000 aaaa03000000 88cc",
		  "Data RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 SA:02:00:00:00:00:03 LLDP "
		  "(0x88cc), "
		  "length 0" },
		{ "08030000 " RA TA NET "0000 020000000004",
		  "Data RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 DA:02:00:00:00:00:03 "
		  "SA:02:00:00:00:00:04, length 30" },
		{ "48110000 " RA TA RA "0000",
		  "Pwr Mgmt Null RA:02:00:00:00:00:02 TA:02:00:00:00:00:01, length 24" },
		{ "88000000 " RA TA NET "0000",
		  "QoS Data RA:02:00:00:00:00:02 TA:02:00:00:00:00:01 "
		  "BSSID:02:00:00:00:00:03 [|802.11], length 24" },
		{ "81", "[|802.11], length 1" },
		{ "8100", "802.11 version 1, length 2" },
		{ "f000", "type 0 subtype 15, length 2" },
	};
	char frame[512], line[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(line_of(105, cases[i].frame, 0, &plain), cases[i].line);
		snprintf(frame, sizeof(frame), RADIOTAP "%s", cases[i].frame);
		snprintf(line, sizeof(line), "ch 1 -50dBm %s", cases[i].line);
		assert_string_equal(line_of(127, frame, 0, &plain), line);
	}
}

static void capture_headers(void **state)
{
	(void)state;
	/* the length excludes the FCS, and a wrong FCS is marked */
	assert_string_equal(line_of(127, "00000900 02000000 50 d4000000 " RA "01020304", 0, &plain),
			    "bad-fcs Acknowledgment RA:02:00:00:00:00:02, length 10");
	assert_string_equal(line_of(127, "00000c00 08000000 5017 0000 d4000000 " RA, 0, &plain),
			    "5968 MHz Acknowledgment RA:02:00:00:00:00:02, length 10");
	assert_string_equal(line_of(127, "00000c00 08000000 4317 0000 d4000000 " RA, 0, &plain),
			    "ch 6g:1 Acknowledgment RA:02:00:00:00:00:02, length 10");
	/* 0 dBm is a signal; without one for all antennas, the first antenna's is printed */
	assert_string_equal(line_of(127, "00000900 20000000 00 d4000000 " RA, 0, &plain),
			    "0dBm Acknowledgment RA:02:00:00:00:00:02, length 10");
	assert_string_equal(line_of(127, "00000e00 000000a0 20080000 c401 d4000000 " RA, 0, &plain),
			    "-60dBm Acknowledgment RA:02:00:00:00:00:02, length 10");
	/* XChannel: flags, 5180 MHz, number, power */
	assert_string_equal(line_of(127, "00001000 00000400 00000000 3c14 24 00 d4000000 " RA, 0,
				    &plain),
			    "ch 36 Acknowledgment RA:02:00:00:00:00:02, length 10");
	for (int linktype = 119; linktype <= 192; linktype++)
		if (linktype == 119 || linktype == 127 || linktype == 163 || linktype == 192)
			assert_string_equal(line_of(linktype, "0000ff00 00000000", 300, &plain),
					    "[|capture header], length 300");
	assert_string_equal(line_of(228, "4500", 60, &plain), "link type 228, length 60");
}

/* Each frame is cut at every length. Sanitizers check the bounds. */
static void every_cut(void **state)
{
	static const char frame[] =
		IP4("0030", "11") "00350035 00140000 0001 8000 0001 0000 0000 0000";
	char cut[sizeof(frame)];

	(void)state;
	for (size_t n = 0, digits = 0; n + 1 < sizeof(frame); n++) {
		memcpy(cut, frame, n);
		cut[n] = '\0';
		if (digits % 2 == 0)
			assert_true(strlen(line_of(1, cut, 62, &plain)) > 5);
		digits += frame[n] != ' ';
	}
}

static void long_text_is_cut(void **state)
{
	(void)state;
	text.len = 0;
	for (int i = 0; i < 2 * TEXT_LEN; i++)
		text_add(&text, "%s", "abc");
	assert_int_equal(text.len, TEXT_LEN - 1);
	assert_int_equal(strlen(text.bytes), TEXT_LEN - 1);
	text_quoted(&text, (const uint8_t *)"x", 1);
	assert_int_equal(text.len, TEXT_LEN - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet),
		cmocka_unit_test(transport),
		cmocka_unit_test(names),
		cmocka_unit_test(dot11),
		cmocka_unit_test(capture_headers),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(long_text_is_cut),
	};

	return cmocka_run_group_tests_name("print_line", tests, NULL, NULL);
}
