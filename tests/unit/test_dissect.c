// SPDX-License-Identifier: GPL-2.0
/* links: dissect/dissect.o dissect/dot11.o dissect/dot11_body.o dissect/network.o dissect/radio.o
 * dissect/radiotap.o dissect/prism.o dissect/ppi.o dissect/airtime.o wire/channel.o */
#include "unit.h"

#include "dissect/dissect.h"

#include <saluki/linktype.h>

static struct dissection d;
static uint8_t *bytes;
static size_t bytes_len;

/* Dissects a frame that is given in hexadecimal. */
static void dissect(uint16_t linktype, const char *hex)
{
	free(bytes);
	bytes = malloc(strlen(hex) / 2 + 1);
	for (bytes_len = 0; *hex; hex++)
		if (*hex != ' ') {
			unsigned int v;

			assert_int_equal(sscanf(hex++, "%2x", &v), 1);
			bytes[bytes_len++] = v;
		}
	bytes = realloc(bytes, bytes_len + !bytes_len); /* sanitizers find what is beyond */
	dissect_frame(&d, linktype, bytes, bytes_len, bytes_len);
}

#define A1 "02aaaaaaaa01 "
#define A2 "02bbbbbbbb02 "
#define A3 "02cccccccc03 "
#define A4 "02dddddddd04 "
#define SEQUENCE "4523 " /* 0x234, fragment 5 */
#define FIRST "4023 "
#define SNAP "aaaa03 000000 "
#define IPV4 SNAP "0800 45000000"

/* ---- radiotap: version, length, present words, fields ------------------------------------------
 */

/* Flags 10, rate 12, channel 2437, signal -59, noise -96. */
#define RADIOTAP "0000 1000 6e000000 10 0c 8509 8004 c5 a0 "
#define TAIL " 01020304" /* FCS */

static void is_address(const uint8_t *p, const char *hex)
{
	char text[13] = "";

	if (!*hex) {
		assert_null(p);
		return;
	}
	assert_non_null(p);
	for (int i = 0; i < 6; i++)
		sprintf(text + 2 * i, "%02x", p[i]);
	assert_memory_equal(text, hex, 12);
}

static void addresses(const char *receiver, const char *transmitter, const char *bssid,
		      const char *source, const char *destination)
{
	is_address(d.receiver, receiver);
	is_address(d.transmitter, transmitter);
	is_address(d.bssid, bssid);
	is_address(d.source, source);
	is_address(d.destination, destination);
}

static void radio_of_radiotap(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP, RADIOTAP "d400 3a01 " A1 TAIL);
	assert_int_equal(d.has, DISSECT_FREQUENCY | DISSECT_SIGNAL | DISSECT_NOISE | DISSECT_RATE |
					DISSECT_FCS | DISSECT_TYPE | DISSECT_DURATION |
					DISSECT_AIRTIME);
	assert_int_equal(d.frequency, 2437);
	assert_int_equal(d.signal, -59);
	assert_int_equal(d.noise, -96);
	assert_int_equal(d.rate_kbps, 6000);
	assert_int_equal(d.phy, DISSECT_PHY_OFDM);
	assert_true(d.has_fcs && !d.bad_fcs);
	assert_int_equal(d.duration, 314);
	/* 20 us, six symbols for 14 bytes with service and tail bits, and the extension. */
	assert_int_equal(d.airtime_ns, 20000 + 6 * 4000 + 6000);
	assert_int_equal(d.type, 1);
	assert_int_equal(d.subtype, 13);
	assert_int_equal(d.mac_offset, 16);
	assert_int_equal(d.headers_end, bytes_len);
	addresses("02aaaaaaaa01", "", "", "", "");
}

/* A value of 0 is present, and is not one that is absent. */
static void zero_is_present(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP, "0000 0900 20000000 00 d400 0000 " A1);
	assert_int_equal(d.has, DISSECT_SIGNAL | DISSECT_TYPE | DISSECT_DURATION);
	assert_int_equal(d.signal, 0);
	dissect(LINKTYPE_RADIOTAP, "0000 0800 00000000 d400 0000 " A1);
	assert_int_equal(d.has, DISSECT_TYPE | DISSECT_DURATION);
}

/* Signals of antennas follow, and a vendor's fields. */
static void the_first_namespace_counts(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP,
		"0000 2100 200000c0 200000a0 20080000 c3 00 0011220705 00 deadbeef00 c4 c5 07 "
		"0000000000 d400 0000 " A1);
	assert_int_equal(d.signal, -61);
	dissect(LINKTYPE_RADIOTAP, "0000 1000 000000a0 20000000 c400 0000 d400 0000 " A1);
	assert_int_equal(d.signal, -60);
}

static void xchannel(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP, "0000 1000 00000400 40010000 3c14 24 14 d400 0000 " A1);
	assert_int_equal(d.frequency, 5180);
}

static void newer_phys(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP, "0000 0b00 00000800 07 04 0f d400 0000 " A1);
	assert_int_equal(d.phy, DISSECT_PHY_HT);
	assert_int_equal(d.mcs, 15);
	assert_int_equal(d.streams, 2);
	assert_int_equal(d.rate_kbps, 144444);
	dissect(LINKTYPE_RADIOTAP,
		"0000 1400 00002000 4400 00 04 92000000 00 00 0000 d400 0000 " A1);
	assert_int_equal(d.phy, DISSECT_PHY_VHT);
	assert_int_equal(d.mcs, 9);
	assert_int_equal(d.streams, 2);
	assert_int_equal(d.rate_kbps, 780000);
	/* A field that says nothing, beside a legacy rate. */
	dissect(LINKTYPE_RADIOTAP, "0000 0c00 04000800 16 00 00 00 d400 0000 " A1);
	assert_int_equal(d.phy, DISSECT_PHY_DSSS);
	assert_int_equal(d.rate_kbps, 11000);
	assert_false(d.has & (DISSECT_MCS | DISSECT_STREAMS));
}

static void malformed_radiotap(void **state)
{
	(void)state;
	dissect(LINKTYPE_RADIOTAP, "0100 0900 20000000 c5 d400 0000 " A1); /* version */
	assert_int_equal(d.has, 0);
	dissect(LINKTYPE_RADIOTAP, "0000 0700 20000000 c5 d400 0000 " A1); /* length */
	assert_int_equal(d.has, 0);
	dissect(LINKTYPE_RADIOTAP, "0000 0090 20000000 c5 d400 0000 " A1);
	assert_int_equal(d.has, 0);
	/* The fields do not fit: those that do are there, and the frame. */
	dissect(LINKTYPE_RADIOTAP, "0000 0a00 2e000000 10 0c d400 0000 " A1);
	assert_int_equal(d.has, DISSECT_FCS | DISSECT_RATE | DISSECT_TYPE | DISSECT_DURATION |
					DISSECT_AIRTIME);
	/* Present words without end. */
	dissect(LINKTYPE_RADIOTAP, "0000 0c00 20000080 20000080 d400 0000 " A1);
	assert_int_equal(d.has, DISSECT_TYPE | DISSECT_DURATION);
	dissect(LINKTYPE_RADIOTAP, "0000 0900 00000004 00 d400 0000 " A1); /* a header alone */
	assert_int_equal(d.has, 0);
}

/* ---- other capture headers ---------------------------------------------------------------------
 */

static void prism(void **state)
{
	(void)state;
	dissect(LINKTYPE_PRISM, "44000000 48000000 776c616e300000000000000000000000 "
				"44300000 0000 0400 06000000 44600000 0000 0400 d8ffffff "
				"44800000 0000 0400 04000000 44700000 0100 0400 a0ffffff "
				"d400 0000 " A1);
	assert_int_equal(d.frequency, 2437);
	assert_int_equal(d.signal, -40);
	assert_int_equal(d.rate_kbps, 2000);
	assert_false(d.has & (DISSECT_NOISE | DISSECT_FCS)); /* not supplied */
	addresses("02aaaaaaaa01", "", "", "", "");
}

static void avs(void **state)
{
	static const char frame[] =
		"80211001 00000040 0000000000000000 0000000000000000 00000005 0000000b 0000006e "
		"00000000 00000000 00000002 ffffffd3 ffffffa0 00000001 00000000 d400 0000 " A1;

	(void)state;
	for (int i = 0; i < 2; i++) {
		dissect(i ? LINKTYPE_AVS : LINKTYPE_PRISM, frame);
		assert_int_equal(d.frequency, 2462);
		assert_int_equal(d.signal, -45);
		assert_int_equal(d.noise, -96);
		assert_int_equal(d.rate_kbps, 11000);
		assert_int_equal(d.airtime_ns, 96000 + 11000); /* short preamble, 14 bytes */
		addresses("02aaaaaaaa01", "", "", "", "");
	}
}

static void ppi(void **state)
{
	(void)state;
	dissect(LINKTYPE_PPI, "0000 2000 69000000 0200 1400 0000000000000000 0500 0c00 8509 8000 "
			      "00 00 c5 80 d400 0000 " A1 TAIL);
	assert_int_equal(d.frequency, 2437);
	assert_int_equal(d.signal, -59);
	assert_int_equal(d.rate_kbps, 6000);
	assert_true(d.has_fcs && d.bad_fcs);
	assert_false(d.has & DISSECT_NOISE); /* -128 is no value */
	addresses("02aaaaaaaa01", "", "", "", "");
	dissect(LINKTYPE_PPI, "0000 0800 01000000 " A1 A2 "0800 45");
	assert_int_equal(d.has, 0);
}

/* ---- addresses ---------------------------------------------------------------------------------
 */

static void control_frames(void **state)
{
	(void)state;
	dissect(LINKTYPE_IEEE802_11, "a400 01c0 " A1 A2); /* PS-Poll: an AID */
	assert_int_equal(d.has, DISSECT_TYPE);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02aaaaaaaa01", "", "");
	dissect(LINKTYPE_IEEE802_11, "b400 3a81 " A1 A2); /* RTS */
	assert_int_equal(d.duration, 314);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "", "", "");
	dissect(LINKTYPE_IEEE802_11, "e400 0000 " A1 A2); /* CF-End */
	addresses("02aaaaaaaa01", "", "02bbbbbbbb02", "", "");
	dissect(LINKTYPE_IEEE802_11, "9400 0000 " A1 A2 "0500 1000 0000000000000000");
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "", "", "");
	dissect(LINKTYPE_IEEE802_11, "7400 0000 " A1 "b400 00000000 " A2); /* wrapper of an RTS */
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "", "", "");
	dissect(LINKTYPE_IEEE802_11, "6402 0000 " A1 A2); /* DMG poll */
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "", "", "");
	assert_false(d.has & DISSECT_SEQUENCE);
}

static void data_frames(void **state)
{
	(void)state;
	dissect(LINKTYPE_IEEE802_11, "0800 0000 " A1 A2 A3 FIRST IPV4);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02cccccccc03", "02bbbbbbbb02", "02aaaaaaaa01");
	dissect(LINKTYPE_IEEE802_11, "0801 0000 " A1 A2 A3 FIRST IPV4);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02aaaaaaaa01", "02bbbbbbbb02", "02cccccccc03");
	assert_int_equal(d.ethertype, 0x0800);
	dissect(LINKTYPE_IEEE802_11, "0802 0000 " A1 A2 A3 SEQUENCE IPV4);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02bbbbbbbb02", "02cccccccc03", "02aaaaaaaa01");
	assert_int_equal(d.sequence, 0x234);
	assert_int_equal(d.fragment, 5);
	assert_false(d.has & DISSECT_ETHERTYPE); /* a later fragment */
	dissect(LINKTYPE_IEEE802_11, "0803 0000 " A1 A2 A3 FIRST A4 IPV4);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "", "02dddddddd04", "02cccccccc03");
	assert_int_equal(d.ethertype, 0x0800);
	dissect(LINKTYPE_IEEE802_11, "0842 0000 " A1 A2 A3 FIRST IPV4); /* protected */
	assert_false(d.has & DISSECT_ETHERTYPE);
	dissect(LINKTYPE_IEEE802_11, "8882 0000 " A1 A2 A3 FIRST "0000 00000000 " IPV4);
	assert_int_equal(d.ethertype, 0x0800); /* HT control */
	dissect(LINKTYPE_IEEE802_11, "8802 0000 " A1 A2 A3 FIRST "0000 00 1f 01000000 " IPV4);
	assert_int_equal(d.ethertype, 0x0800); /* mesh control */
}

#define SUBFRAME "02eeeeeeee05 02ffffffff06 000c " IPV4

static void aggregated_msdus(void **state)
{
	const uint8_t *all[DISSECT_ADDRESSES_MAX];

	(void)state;
	dissect(LINKTYPE_IEEE802_11, "8802 0000 " A1 A2 A2 FIRST "8000 " SUBFRAME);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02bbbbbbbb02", "02ffffffff06", "02aaaaaaaa01");
	assert_int_equal(d.ethertype, 0x0800);
	dissect(LINKTYPE_IEEE802_11, "8801 0000 " A1 A2 A1 FIRST "8000 " SUBFRAME);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02aaaaaaaa01", "02bbbbbbbb02", "02eeeeeeee05");
	dissect(LINKTYPE_IEEE802_11, "8803 0000 " A1 A2 A3 FIRST A4 "8000 " SUBFRAME);
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02cccccccc03", "02ffffffff06", "02eeeeeeee05");
	is_address(d.second_bssid, "02dddddddd04");
	assert_int_equal(dissect_addresses(&d, all), 6);
	/* Encrypted: the header alone. */
	dissect(LINKTYPE_IEEE802_11,
		"8842 0000 " A1 A2 A2 FIRST "8000 0102030405060708090a0b0c0d0e");
	addresses("02aaaaaaaa01", "02bbbbbbbb02", "02bbbbbbbb02", "", "02aaaaaaaa01");
	assert_int_equal(dissect_addresses(&d, all), 2);
}

static void ethernet(void **state)
{
	const uint8_t *all[DISSECT_ADDRESSES_MAX];
	static const struct {
		const char *frame;
		int ethertype;
	} cases[] = {
		{ A1 A2 "0806 0001", 0x0806 },
		{ A1 A2 "88a8 0003 8100 0004 86dd", 0x86dd },
		{ A1 A2 "8847 00064040 00064040", -1 },
		{ A1 A2 "8847 00064040 00064140 45", 0x0800 },
		{ A1 A2 "8847 00064140 60", 0x86dd },
		{ A1 A2 "8847 00064140 00", 0x8847 },
		{ A1 A2 "000c " IPV4, 0x0800 },
		{ A1 A2 "0004 " IPV4, -1 },
		{ A1 A2 "0026 424203", -1 },
		{ A1 A2 "8100 00", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		dissect(LINKTYPE_ETHERNET, cases[i].frame);
		addresses("", "", "", "02bbbbbbbb02", "02aaaaaaaa01");
		assert_int_equal(d.has & DISSECT_ETHERTYPE ? d.ethertype : -1, cases[i].ethertype);
	}
	assert_int_equal(dissect_addresses(&d, all), 2);
	dissect(LINKTYPE_ETHERNET, A1 A1 "0800");
	assert_int_equal(dissect_addresses(&d, all), 1);
	dissect(228, "45000014");
	assert_int_equal(d.has, 0);
	assert_int_equal(d.headers_end, 4);
	assert_int_equal(dissect_addresses(&d, all), 0);
}

/* ---- SSID --------------------------------------------------------------------------------------
 */

#define BEACON "8000 0000 ffffffffffff " A2 A2 FIRST "0000000000000000 6400 1104 "

static void ssid(void **state)
{
	(void)state;
	dissect(LINKTYPE_IEEE802_11, BEACON "0003 61006d 0101 82");
	assert_int_equal(d.ssid_len, 3);
	assert_memory_equal(d.ssid, "a\0m", 3);
	dissect(LINKTYPE_IEEE802_11, BEACON "0101 82 0000");
	assert_non_null(d.ssid);
	assert_int_equal(d.ssid_len, 0);
	dissect(LINKTYPE_IEEE802_11, BEACON "0101 82");
	assert_null(d.ssid);
	dissect(LINKTYPE_IEEE802_11, BEACON "0004 61006d");
	assert_null(d.ssid);
	dissect(LINKTYPE_IEEE802_11,
		"2080 0000 " A1 A2 A1 FIRST "00000000 0000 0000 " A1 "0001 61");
	assert_int_equal(d.ssid_len, 1); /* a reassociation request with HT control */
	dissect(LINKTYPE_IEEE802_11, "4040 0000 " A1 A2 A1 FIRST "0001 61");
	assert_null(d.ssid); /* protected */
	/* The FCS is no element. */
	dissect(LINKTYPE_RADIOTAP, "0000 0900 02000000 10 4000 0000 " A1 A2 A1 FIRST "00020304");
	assert_null(d.ssid);
}

/* ---- cut ---------------------------------------------------------------------------------------
 */

static const struct {
	uint16_t linktype;
	const char *frame;
} whole[] = {
	{ LINKTYPE_RADIOTAP, RADIOTAP "d400 3a01 " A1 TAIL },
	{ LINKTYPE_RADIOTAP, RADIOTAP BEACON "0003 61006d 0101 82" TAIL },
	{ LINKTYPE_RADIOTAP,
	  RADIOTAP "8802 0000 " A1 A2 A3 FIRST "0001 00 1f 01000000 " IPV4 TAIL },
	{ LINKTYPE_RADIOTAP, RADIOTAP "8803 0000 " A1 A2 A3 FIRST A4 "8000 " SUBFRAME TAIL },
	{ LINKTYPE_RADIOTAP, RADIOTAP "8801 0000 " A1 A2 A3 FIRST "8000 " SUBFRAME TAIL },
	{ LINKTYPE_RADIOTAP,
	  "0000 1000 000000a0 20000000 c400 0000 7400 0000 " A1 "b400 00000000 " A2 },
	{ LINKTYPE_RADIOTAP, "0000 0900 02000000 20 8801 0000 " A1 A2 A3 FIRST "0000 0000 " IPV4 },
	{ LINKTYPE_PRISM, "44000000 24000000 776c616e300000000000000000000000 "
			  "44300000 0000 0400 06000000 0803 0000 " A1 A2 A3 FIRST A4 IPV4 },
	{ LINKTYPE_PPI,
	  "0000 2000 69000000 0200 1400 0000000000000000 0500 0c00 8509 8000 00 00 c5 80 "
	  "b400 0000 " A1 A2 TAIL },
	{ LINKTYPE_IEEE802_11, "a400 01c0 " A1 A2 },
	{ LINKTYPE_ETHERNET, A1 A2 "8100 0003 8847 00064040 00064140 4500" },
	{ LINKTYPE_ETHERNET, A1 A2 "000c " IPV4 },
};

static void address_is_same(const uint8_t *part, const uint8_t *from, const uint8_t *all)
{
	assert_true(!part || part - from == all - bytes);
}

/* A cut frame has fewer fields, and none of another value. */
static void check_cut(const struct dissection *part, const uint8_t *copy, size_t len)
{
	assert_int_equal(part->has & ~d.has, 0);
	assert_true(part->headers_end <= len);
	address_is_same(part->receiver, copy, d.receiver);
	address_is_same(part->transmitter, copy, d.transmitter);
	address_is_same(part->bssid, copy, d.bssid);
	address_is_same(part->source, copy, d.source);
	address_is_same(part->destination, copy, d.destination);
	address_is_same(part->second_bssid, copy, d.second_bssid);
	address_is_same(part->ssid, copy, d.ssid);
	if (part->has & DISSECT_FREQUENCY)
		assert_int_equal(part->frequency, d.frequency);
	if (part->has & DISSECT_SIGNAL)
		assert_int_equal(part->signal, d.signal);
	if (part->has & DISSECT_RATE)
		assert_int_equal(part->rate_kbps, d.rate_kbps);
	if (part->has & DISSECT_AIRTIME)
		assert_int_equal(part->airtime_ns, d.airtime_ns);
	if (part->has & DISSECT_TYPE)
		assert_true(part->type == d.type && part->subtype == d.subtype &&
			    part->flags == d.flags);
	if (part->has & DISSECT_DURATION)
		assert_int_equal(part->duration, d.duration);
	if (part->has & DISSECT_SEQUENCE)
		assert_true(part->sequence == d.sequence && part->fragment == d.fragment);
	if (part->has & DISSECT_ETHERTYPE)
		assert_int_equal(part->ethertype, d.ethertype);
	if (part->ssid)
		assert_int_equal(part->ssid_len, d.ssid_len);
}

static void cut_at_every_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		dissect(whole[i].linktype, whole[i].frame);
		for (size_t len = 0; len <= bytes_len; len++) {
			uint8_t *copy = malloc(len + !len);
			struct dissection part;

			memcpy(copy, bytes, len);
			dissect_frame(&part, whole[i].linktype, copy, len, bytes_len);
			check_cut(&part, copy, len);
			if (len == bytes_len)
				assert_int_equal(part.has, d.has);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(radio_of_radiotap),
		cmocka_unit_test(zero_is_present),
		cmocka_unit_test(the_first_namespace_counts),
		cmocka_unit_test(xchannel),
		cmocka_unit_test(newer_phys),
		cmocka_unit_test(malformed_radiotap),
		cmocka_unit_test(prism),
		cmocka_unit_test(avs),
		cmocka_unit_test(ppi),
		cmocka_unit_test(control_frames),
		cmocka_unit_test(data_frames),
		cmocka_unit_test(aggregated_msdus),
		cmocka_unit_test(ethernet),
		cmocka_unit_test(ssid),
		cmocka_unit_test(cut_at_every_length),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(bytes);
	return failed;
}
