// SPDX-License-Identifier: GPL-2.0
/* Removes a simulated radio (mac80211_hwsim) by its number, or adds one, with as many channels at a
 * time as the others of tests/wifi:
 *
 *     replug out NUMBER
 *     replug in
 */
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* drivers/net/wireless/mac80211_hwsim.h */
#define HWSIM_CMD_NEW_RADIO 4
#define HWSIM_CMD_DEL_RADIO 5
#define HWSIM_ATTR_CHANNELS 9
#define HWSIM_ATTR_RADIO_ID 10
#define CHANNELS 2

int main(int argc, char **argv)
{
	struct nl_sock *sock = nl_socket_alloc();
	struct nl_msg *m = nlmsg_alloc();
	int family, err;

	if (argc < 2 || !sock || !m || genl_connect(sock) < 0)
		return 2;
	family = genl_ctrl_resolve(sock, "MAC80211_HWSIM");
	if (argc == 3 && !strcmp(argv[1], "out")) {
		genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, HWSIM_CMD_DEL_RADIO, 1);
		nla_put_u32(m, HWSIM_ATTR_RADIO_ID, atoi(argv[2]));
	} else {
		genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, HWSIM_CMD_NEW_RADIO, 1);
		nla_put_u32(m, HWSIM_ATTR_CHANNELS, CHANNELS);
	}
	/* The answer is the new radio's number, and positive. */
	err = nl_send_sync(sock, m);
	nl_socket_free(sock);
	if (err < 0)
		fprintf(stderr, "replug: %s\n", nl_geterror(err));
	return err < 0;
}
