# SPDX-License-Identifier: GPL-2.0
# Compiles a module's source for BPF, and that of its consumer. Part of the Makefile, and installed,
# for modules elsewhere:
#
#     make -f /usr/local/share/saluki/module.mk module SRC=count.bpf.c [OUT=count.bpf.o]
#     make -f /usr/local/share/saluki/module.mk consumer SRC=count.c [OUT=count]

CLANG ?= clang
# <saluki/module.h>: in the tree, or where it was installed.
MODULE_INCLUDE := $(dir $(lastword $(MAKEFILE_LIST)))../../include
# <asm/types.h> lies apart on Debian. Objects do not name the folder that they are built in, so they
# are the same wherever that is.
MODULE_CFLAGS := -O2 -g -Wall -Wextra -target bpf -mcpu=v3 -I$(MODULE_INCLUDE) \
	-ffile-prefix-map=$(CURDIR)=. -idirafter /usr/include/$(shell uname -m)-linux-gnu
# Types (BTF) stay, lines of the source do not.
MODULE_COMPILE = $(CLANG) $(MODULE_CFLAGS) $(MODULE_MORE) -c -o $(1) $(2) && llvm-strip -g $(1)
# libbpf for those that read maps, the mathematics of those that reckon: whoever needs neither is
# not linked with it.
CONSUMER_LIBS ?= -Wl,--as-needed -lbpf -lm

.PHONY: module consumer
module: ## compile a monitoring module, SRC=x.bpf.c [OUT=x.bpf.o]
	@test -n "$(SRC)" || { echo "make module: give SRC=x.bpf.c" >&2; exit 2; }
	@$(call MODULE_COMPILE,$(or $(OUT),$(SRC:.c=.o)),$(SRC))

consumer: ## compile a module's consumer, SRC=x.c [OUT=x]
	@test -n "$(SRC)" || { echo "make consumer: give SRC=x.c" >&2; exit 2; }
	@$(CC) -O2 -g -Wall -Wextra $(CFLAGS) -D_GNU_SOURCE -I$(MODULE_INCLUDE) $(LDFLAGS) \
		-o $(or $(OUT),$(SRC:.c=)) $(SRC) $(CONSUMER_LIBS)
