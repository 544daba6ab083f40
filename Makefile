# SPDX-License-Identifier: GPL-2.0
# Saluki. `make help` lists the targets. All built files are under build/.

V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' $(1) $(2))

CC := gcc
CLANG := clang
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PYTHON := /usr/bin/python3
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
PREFIX ?= /usr/local
# All CPUs, unless -j was given.
MAKE_QUIETLY = $(MAKE) -s --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))

# SANITIZE=address,undefined builds in its own directory.
comma := ,
empty :=
space := $(empty) $(empty)
BUILD := build$(if $(SANITIZE),/sanitize-$(subst $(comma),-,$(SANITIZE)))$(if $(WITHOUT),/without-$(subst $(space),-,$(WITHOUT)))
TOOLS := build/venv

CFLAGS ?= -O2 -g
override CFLAGS += $(CPPFLAGS) -std=c11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -I. -I$(BUILD) -MMD -MP \
	$(if $(filter bpf,$(WITHOUT)),-DWITHOUT_BPF) \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BPF_CFLAGS := -O2 -g -Wall -Wextra -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude \
	-Ivmlinux/$(ARCH) -ffile-prefix-map=$(CURDIR)=. -MMD -MP
# zstd's static interface is used (wire/compress.c), so zstd is linked statically.
LIBS_COMMON := -lsodium -l:libzstd.a -pthread
LIB_CMOCKA := -lcmocka
LIBS_AGENT := $(if $(filter bpf,$(WITHOUT)),,-lxdp -lbpf) $(if $(filter seccomp,$(WITHOUT)),,-lseccomp) \
	$(if $(filter nl80211,$(WITHOUT)),,-lnl-genl-3 -lnl-3) $(LIBS_COMMON)
NL_CFLAGS ?= -I/usr/include/libnl3
LIBS_COLLECTOR := -lseccomp $(LIBS_COMMON)
LIBS_KAFKA := -lrdkafka -pthread
LIBS_LIVE := -lseccomp
LIBS_KEEP := -lseccomp -lsodium -l:libzstd.a -pthread
LIBS_MERGE := -lseccomp -lsodium -lm
LIBS_WEB := -lmicrohttpd -lseccomp

PACKAGES := gcc libc6-dev clang llvm bpftool libbpf-dev libxdp-dev libpcap0.8-dev libpcap0.8 \
	libzstd-dev libsodium-dev libseccomp-dev libnl-3-dev libnl-genl-3-dev libmicrohttpd-dev librdkafka-dev libxxhash-dev libclang-rt-14-dev zstd ethtool iproute2 python3 \
	python3-venv
PACKAGES_TEST := libcmocka-dev tshark tcpdump procps util-linux curl openssl qemu-system-x86 busybox-static cpio \
	kmod mandoc strace iw qemu-user-static binutils-mips-linux-gnu \
	qemu-system-mips gcc-mips-linux-gnu xz-utils bc bison flex spin systemd
PACKAGES_PACKAGE := build-essential systemd dpkg-dev debhelper fakeroot lintian debootstrap e2fsprogs
# Maven only fetches the broker: its cache needs none (tests/kafka/jars.py).
PACKAGES_KAFKA := openjdk-17-jre-headless librdkafka-dev \
	$(if $(wildcard $(or $(SALUKI_CACHE),$(HOME)/.cache/saluki)/kafka-*),,maven)
PACKAGES_LINT := clang-tidy clang-format cppcheck shellcheck
PACKAGES_BENCH := netsniff-ng linux-perf valgrind zstd socat openssl wireshark-common

# Archives: a program gets the objects that it calls.
WIRE := $(BUILD)/wire.a
COMMON := $(BUILD)/common.a
# Which of the agent's files need which library. WITHOUT="bpf pcap seccomp nl80211" builds a sensor that lacks some:
# their files are left out, and agent/absent/LIBRARY.c stands in for what the others call of them.
NEEDS_bpf := $(patsubst %,agent/%.c,export/pipeline $(addprefix programs/,grace_period insert program) \
	$(addprefix tap/,adopt attach attach_maps attach_slots hook maps pin tap_bpf tap_xsk) \
	$(addprefix rings/,counters mapped ring xsk xsk_ring) $(addprefix source/,source_ring source_xsk) \
	$(addprefix filter/,filter_bpf filter_chain filter_emit filter_flow filter_load filter_slow) \
	$(addprefix command/,loader mounts pinned probe refilter_pinned module module_check module_consume \
		module_fill module_keys module_list module_sign module_slots)) \
	$(wildcard agent/module/*.c)
NEEDS_pcap := agent/filter/filter_compile.c agent/remote/compile_filter.c common/expression.c common/extcap.c common/filter_words.c \
	common/libpcap.c
NEEDS_seccomp := agent/process/sandbox.c common/sandbox.c
NEEDS_nl80211 := $(patsubst %,agent/radio/%.c,radio_lock monitor monitor_make monitor_undo nl80211 nl80211_ask record)
# These need no library. Machines without libbpf have too little memory for them.
NEEDS_generation := agent/control/generation.c
NEEDS_one_way := agent/export/one_way.c
NEEDS_spool := $(patsubst %,agent/export/%.c,forward spool spool_begin spool_file spool_log spool_thread)
NEEDS_notify := common/notify.c
NEEDS_status_line := agent/control/status_line.c $(patsubst %,common/%.c,log_start status_text terminal_line)
ABSENT := $(WITHOUT) $(if $(filter bpf,$(WITHOUT)),generation notify one_way spool status_line)
# `saluki capture` needs a collector on the same machine.
LEFT_OUT := $(foreach l,$(ABSENT),$(NEEDS_$(l))) \
	$(if $(filter bpf,$(WITHOUT)),agent/capture_main.c agent/options/capture_command.c $(wildcard agent/local/*.c))
AGENT_SOURCES := $(filter-out $(LEFT_OUT),$(filter-out agent/absent/%, \
		$(wildcard agent/*.c agent/*/*.c))) $(patsubst %,agent/absent/%.c,$(ABSENT))
AGENT := $(patsubst %.c,$(BUILD)/%.o,$(AGENT_SOURCES))
COLLECTOR_SOURCES := $(wildcard collector/*.c collector/*/*.c)
COLLECTOR := $(COLLECTOR_SOURCES:%.c=$(BUILD)/%.o)
SWARM := $(patsubst %.c,$(BUILD)/%.o,$(wildcard swarm/*.c))
PRINT := $(BUILD)/print.a
BOARD := $(BUILD)/board.a
PCAPNG := $(BUILD)/pcapng.a
ARCHIVE := $(BUILD)/archive.a
DISSECT := $(BUILD)/dissect.a
KAFKA_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard kafka/*.c kafka/*/*.c))
KEEP_SOURCES := $(wildcard keep/*.c keep/*/*.c)
KEEP := $(KEEP_SOURCES:%.c=$(BUILD)/%.o)
LIVE := $(patsubst %.c,$(BUILD)/%.o,$(wildcard live/*.c))
PARQUET := $(patsubst %.c,$(BUILD)/%.o,$(wildcard keep/parquet/*.c) common/buffer.c keep/compact/concat.c \
	keep/compact/footer_read.c keep/compact/thrift_read.c)
WEB := $(patsubst %.c,$(BUILD)/%.o,$(wildcard web/*.c))
MERGE_SOURCES := $(wildcard merge/*.c merge/*/*.c)
MERGE := $(MERGE_SOURCES:%.c=$(BUILD)/%.o)
# A unit test links the objects named in its first lines: "links: agent/capture/queue.o wire/combo.o". One that
# names what is left out is left out too. The AP70's tests are emulated, without the collector's.
LINKS := $(shell awk '/links:/, /\*\// { for (i = 1; i <= NF; i++) if ($$i ~ /\.o$$/) print FILENAME ":" $$i }' \
	$(wildcard tests/unit/test_*.c tests/fuzz/fuzz_*.c))
unit_links = $(patsubst $(1):%,$(BUILD)/%,$(filter $(1):%,$(LINKS)))
UNIT_LEFT_OUT := $(LEFT_OUT:%.c=$(BUILD)/%.o) $(if $(AP70),$(BUILD)/collector/% $(BUILD)/keep/% $(BUILD)/archive/% $(BUILD)/pcapng/%)
UNIT := $(foreach t,$(wildcard tests/unit/test_*.c),$(if $(filter $(UNIT_LEFT_OUT),$(call unit_links,$(t))),,\
		$(t:%.c=$(BUILD)/%)))
# A sensor of the same objects, for a test.
WITHOUT_NL80211 := $(BUILD)/tests/saluki-without-nl80211
SHARED := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(LEFT_OUT),$(wildcard common/*.c wire/*.c)))
PROGRAMS := $(BUILD)/saluki $(if $(WITHOUT),,$(BUILD)/saluki-collector $(BUILD)/saluki-kafka $(BUILD)/saluki-keep $(BUILD)/saluki-live $(BUILD)/saluki-merge $(BUILD)/saluki-swarm $(BUILD)/saluki-web)
# A script; a link to it stands beside the programs.
REPORT := $(if $(WITHOUT),,$(BUILD)/saluki-merge-report)
COMPLETIONS := $(patsubst $(BUILD)/%,$(BUILD)/completion/%,$(PROGRAMS) $(REPORT))
BUSY := $(BUILD)/tests/bench/busy.o # a module that is slow
BENCH_PROGRAMS := $(BUILD)/tests/generate $(BUILD)/tests/play $(BUILD)/tests/stages $(BUILD)/tests/pipelines \
	$(BUILD)/tests/filter_cost $(BUILD)/tests/collector_rate $(BUILD)/tests/straw_man \
	$(BUILD)/tests/shroud_plain $(BUILD)/tests/modules_cost $(BUILD)/tests/sink $(BUILD)/tests/pretend_board $(BUILD)/tests/parquet_cost $(BUILD)/tests/kafka_feed \
	$(BUILD)/tests/kafka_confirm $(BUSY)
TEST_PROGRAMS := $(BUILD)/tests/play $(BUILD)/tests/view_run $(BUILD)/tests/trim_run $(BUILD)/tests/filter_run \
	$(BUILD)/tests/hostile $(BUILD)/tests/greedy $(BUILD)/tests/patient $(BUILD)/tests/pretend $(BUILD)/tests/nomalloc.so $(BUILD)/tests/x25519.so $(BUILD)/tests/trial.so \
	$(BUILD)/tests/packet_verdicts $(BUILD)/tests/packet_switch $(BUILD)/tests/old_kernel \
	$(BUILD)/tests/newer_calls $(BUILD)/tests/relay $(BUILD)/tests/router $(BUILD)/tests/slow $(BUILD)/tests/clock.so $(BUILD)/tests/lesser_driver.so \
	$(BUILD)/tests/asks_at.so $(if $(WITHOUT),,$(BUILD)/tests/printer $(BUILD)/tests/dissect_run $(BUILD)/tests/pretend_board $(BUILD)/tests/parquet_write $(BUILD)/tests/parquet_join $(BUILD)/tests/failing.so) $(BUILD)/tests/consumer $(BUILD)/tests/flow_kernel $(BUILD)/tests/module_run $(BUILD)/tests/replug $(BUILD)/tests/switches $(BUILD)/tests/traffic $(BUILD)/tests/bodies $(BUILD)/tests/repeated.so $(if $(WITHOUT),,$(WITHOUT_NL80211))
LOOK := $(BUILD)/tests/bpf/look.o # a module that reports its view
# For tests of saluki module check.
HOSTILE_MODULES := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/modules/*.bpf.c))
RUN_MODULES := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/modules/runs/*.bpf.c)) # for tests that run them
# Modules, and their consumers: the unprivileged half of those that have one.
MODULE_NAMES := $(patsubst %.bpf.c,%,$(notdir $(wildcard bpf/modules/*/*.bpf.c)))
MODULES := $(MODULE_NAMES:%=$(BUILD)/modules/%.o)
CONSUMERS := $(foreach m,$(MODULE_NAMES),$(if $(wildcard bpf/modules/$m/$m.c),$(BUILD)/modules/$m))

# $$* in a prerequisite: the text that % stands for, more than once.
.SECONDEXPANSION:

.PHONY: all
all: $(PROGRAMS) $(REPORT) $(COMPLETIONS) ## build the programs, what completes them in bash, and modules

$(BUILD)/saluki: $(AGENT) $(if $(filter bpf,$(WITHOUT)),,$(PRINT) $(DISSECT)) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_AGENT)

$(BUILD)/saluki-collector: $(COLLECTOR) $(BOARD) $(ARCHIVE) $(PCAPNG) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_COLLECTOR)

$(BUILD)/saluki-swarm: $(SWARM) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/saluki-kafka: $(KAFKA_OBJECTS) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_KAFKA)

$(BUILD)/saluki-keep: $(KEEP) $(DISSECT) $(ARCHIVE) $(PCAPNG) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_KEEP)

$(BUILD)/saluki-live: $(LIVE) $(PRINT) $(DISSECT) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_LIVE)

$(BUILD)/saluki-merge: $(MERGE) $(DISSECT) $(PCAPNG) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_MERGE)

$(BUILD)/saluki-merge-report: merge/report/saluki-merge-report
	$(Q)mkdir -p $(@D)
	$(Q)ln -sfr $< $@

$(BUILD)/saluki-web: $(WEB) $(BOARD) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_WEB)

# A program knows its options; what is made of them is a file of its own to install.
$(BUILD)/completion/saluki-merge-report: merge/report/options.py
$(BUILD)/completion/%: $(BUILD)/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< --completion > $@.tmp && mv $@.tmp $@

$(WIRE): $(filter $(BUILD)/wire/%,$(SHARED))
$(COMMON): $(filter $(BUILD)/common/%,$(SHARED))
$(BOARD): $(patsubst %.c,$(BUILD)/%.o,$(wildcard board/*.c))
$(ARCHIVE): $(patsubst %.c,$(BUILD)/%.o,$(wildcard archive/*.c))
$(PCAPNG): $(patsubst %.c,$(BUILD)/%.o,$(wildcard pcapng/*.c))
$(PRINT): $(patsubst %.c,$(BUILD)/%.o,$(wildcard print/*.c))
$(DISSECT): $(patsubst %.c,$(BUILD)/%.o,$(wildcard dissect/*.c))
$(BUILD)/%.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# Stand-ins have all parameters of the functions that they replace, and use few.
$(BUILD)/agent/absent/%.o: override CFLAGS += -Wno-unused-parameter
$(BUILD)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<
	@printf '{ "directory": "%s", "file": "%s", "command": "%s" },\n' "$(CURDIR)" $< \
		"$(CC) $(CFLAGS) -c -o $@ $<" > $@.json

# Tests inspect these objects, so they are compiled again when their flags change.
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<
	$(Q)llvm-strip -g $@
.PRECIOUS: $(BUILD)/bpf/%.bpf.o

# The skeleton is written next to the file that includes it: #include "capture.skel.h".
$(BUILD)/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/wire/dictionary.o: wire/dictionary_dot11.bin
$(BUILD)/web/page.o: $(wildcard web/page/*)
$(BUILD)/tests/unit/test_vectors.o: tests/wire/vectors.json

$(BUILD)/agent/module/shim.o: $(BUILD)/bpf/module_xdp.bpf.o $(BUILD)/bpf/module_tc.bpf.o
$(BUILD)/tests/unit/test_shape.o: $(BUILD)/modules/count.o
$(BUILD)/agent/module/shim.o $(BUILD)/tests/unit/test_shape.o: override CFLAGS += -Wa,-I$(BUILD)

$(BUILD)/agent/radio/%.o: override CFLAGS += $(NL_CFLAGS)
# Times in captures are untrusted: a sum of them may wrap, and is then as wrong as they are.
$(BUILD)/merge/%.o $(BUILD)/pcapng/%.o: override CFLAGS += -fwrapv

$(NEEDS_bpf:%.c=$(BUILD)/%.o) $(BUILD)/tests/bpf/trim_run.o $(BUILD)/tests/bench/filter_cost.o: | \
	$(BUILD)/capture.skel.h $(BUILD)/modules.skel.h $(BUILD)/xsk.skel.h

.PHONY: vmlinux
vmlinux: ## remake vmlinux.h from the running kernel
	$(Q)mkdir -p vmlinux/$(ARCH)
	$(Q)$(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c > vmlinux/$(ARCH)/vmlinux.h

# ---- requirements --------------------------------------------------------------------------------

# Asks dpkg first: if everything is installed, no network and no privilege is needed.
define install_packages
	$(Q)missing=$$(for p in $(1); do dpkg-query -W -f '$${db:Status-Status}\n' $$p 2>/dev/null | \
		grep -qx installed || echo $$p; done); [ -z "$$missing" ] || { \
		echo "installing:" $$missing; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $$missing >/dev/null; }
endef

.PHONY: deps deps-test deps-bench
deps: ## install the packages for building and running (apt)
	$(call install_packages,$(PACKAGES))

deps-test: deps ## and those for testing (apt, and a virtual environment)
	$(call install_packages,$(PACKAGES_TEST))
	$(Q)$(MAKE) -q $(TOOLS)/.done 2>/dev/null || $(MAKE) --no-print-directory $(TOOLS)/.done

.PHONY: deps-kafka
deps-kafka: deps # those for a real broker; confluent-kafka is in the virtual environment
	$(call install_packages,$(PACKAGES_KAFKA))
	$(Q)$(MAKE) -q $(TOOLS)/.done 2>/dev/null || $(MAKE) --no-print-directory $(TOOLS)/.done

deps-bench: deps-test ## and the programs that the bench compares with
	$(call install_packages,$(PACKAGES_BENCH) $(if $(or $(findstring kafka,$(BENCH)),$(if $(BENCH),,all)),$(PACKAGES_KAFKA)))

$(TOOLS)/.done: tests/requirements.txt
	$(call say,VENV,$(TOOLS))
	$(Q)$(PYTHON) -m venv $(TOOLS)
	$(Q)$(TOOLS)/bin/pip install -q --disable-pip-version-check -r tests/requirements.txt
	$(Q)touch $@

# ---- run -----------------------------------------------------------------------------------------

.PHONY: run
run: deps $(if $(KAFKA),deps-kafka) ## capture a virtual monitor interface, or IFACE=eth1, and show it; KAFKA=1: by a broker
	$(Q)$(MAKE_QUIETLY) all build/tests/play
ifdef KAFKA
	$(Q)cd tests && $(SUDO) env PYTHONPATH=.:../packaging ../$(TOOLS)/bin/python demo/kafka_demo.py \
		$(if $(OUT),$(abspath $(OUT)),../build/run-kafka) $(DURATION)
else
	$(Q)$(SUDO) $(PYTHON) tests/demo/demo.py $(if $(IFACE),--interface $(IFACE)) \
		$(if $(DURATION),--seconds $(DURATION)) $(if $(OUT),--out $(OUT))
endif

# ---- test ----------------------------------------------------------------------------------------

$(BUILD)/tests/play: $(BUILD)/tests/demo/play.o $(BUILD)/common/pcap_read.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/trim_run: $(patsubst %,$(BUILD)/%.o,tests/bpf/trim_run agent/rings/mapped agent/programs/program)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf

$(BUILD)/tests/flow_kernel: $(patsubst %,$(BUILD)/%.o,$(addprefix tests/bpf/flow_,kernel refusal random calls) $(addprefix agent/module/,flow \
		flow_helper flow_state flow_step flow_value proof zeros) agent/programs/insert)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf

$(BUILD)/tests/module_run: $(patsubst %,$(BUILD)/%.o,tests/bpf/module_run agent/module/shim agent/module/splice \
		agent/module/elf common/pcap_read)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf

$(BUILD)/tests/bpf/view_run.o: | $(BUILD)/modules.skel.h
$(BUILD)/tests/view_run: $(patsubst %,$(BUILD)/%.o,tests/bpf/view_run agent/module/splice agent/module/table \
		agent/programs/program)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf
$(BUILD)/tests/view_run: | $(patsubst %,$(BUILD)/tests/bpf/look.%.o,tc xdp)

# With its shim, as the agent links it for loading.
$(patsubst %,$(BUILD)/tests/bpf/look.%.o,tc xdp): $(BUILD)/tests/bpf/look.%.o: $(BUILD)/bpf/module_%.bpf.o $(LOOK)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/tests/bpf/filter_run.bpf.o: tests/bpf/filter_run.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I. -c -o $@ $<
	$(Q)llvm-strip -g $@

$(BUILD)/filter_run.skel.h: $(BUILD)/tests/bpf/filter_run.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name filter_run_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/tests/bpf/filter_run.o: | $(BUILD)/filter_run.skel.h

FILTER := $(patsubst %,$(BUILD)/agent/filter/filter_%.o,bpf chain check code compile emit flow load match slow) \
	$(BUILD)/agent/programs/insert.o
$(BUILD)/tests/filter_run: $(BUILD)/tests/bpf/filter_run.o $(BUILD)/tests/bpf/filter_live.o $(FILTER)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf -lpcap

$(BUILD)/tests/hostile $(BUILD)/tests/greedy $(BUILD)/tests/patient $(BUILD)/tests/pretend: $(BUILD)/tests/%: $(BUILD)/tests/netns/%.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/tests/dissect_run: $(BUILD)/tests/dissect/dissect_run.o $(DISSECT) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^

$(BUILD)/tests/traffic: $(BUILD)/tests/wire/traffic.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/tests/bodies: $(patsubst %,$(BUILD)/%.o,tests/dictionary/bodies common/pcap_read wire/combo \
		wire/columns wire/dot11_templates wire/fields wire/wired_templates wire/wired_append wire/tails)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^

$(BUILD)/tests/packet_switch: $(patsubst %,$(BUILD)/%.o,tests/netns/packet_switch \
		agent/filter/filter_packet agent/rings/packet_counts agent/rings/packet_ring agent/tap/packet_socket)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -pthread

$(BUILD)/tests/packet_verdicts: $(patsubst %,$(BUILD)/%.o,tests/netns/packet_verdicts \
		agent/filter/filter_packet)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lpcap

$(WITHOUT_NL80211): $(filter-out $(NEEDS_nl80211:%.c=$(BUILD)/%.o),$(AGENT)) $(BUILD)/agent/absent/nl80211.o $(PRINT) $(DISSECT) $(WIRE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_AGENT)

# These two depend on nothing else, so they can be built static for other machines too.
$(BUILD)/tests/old_kernel: $(patsubst %,$(BUILD)/tests/netns/%.o,old_kernel old_answers)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/newer_calls $(BUILD)/tests/relay $(BUILD)/tests/router $(BUILD)/tests/slow: $(BUILD)/tests/%: $(BUILD)/tests/netns/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/printer: $(BUILD)/tests/print/printer.o $(PRINT) $(DISSECT) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lseccomp

$(BUILD)/tests/pretend_board: $(BUILD)/tests/web/pretend_board.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(addprefix $(BUILD)/tests/parquet_,cost join write): $(BUILD)/tests/%: $(BUILD)/tests/parquet/%.o $(PARQUET)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -l:libzstd.a

$(BUILD)/tests/consumer: $(BUILD)/tests/netns/consumer.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lbpf

$(BUILD)/tests/netns/replug.o: override CFLAGS += $(NL_CFLAGS)
$(BUILD)/tests/switches: $(patsubst %,$(BUILD)/%.o,tests/wifi/switches wire/channel \
		$(addprefix agent/radio/,radio nl80211 nl80211_ask wext))
$(BUILD)/tests/replug: $(BUILD)/tests/netns/replug.o
$(BUILD)/tests/replug $(BUILD)/tests/switches:
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lnl-genl-3 -lnl-3

$(addprefix $(BUILD)/tests/,hog loop monitor spent): $(BUILD)/tests/%: $(BUILD)/tests/ap70/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/tests/bare: $(patsubst %,$(BUILD)/%.o,tests/ap70/bare agent/filter/filter_packet \
		agent/rings/packet_counts agent/rings/packet_ring agent/tap/packet_socket)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

define shared_object
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Wall -Wextra -O2 -fPIC -shared -o $@ $< -ldl
endef
$(BUILD)/tests/%.so: tests/netns/%.c
	$(shared_object)
$(BUILD)/tests/%.so: tests/wire/%.c
	$(shared_object)
$(BUILD)/tests/%.so: tests/parquet/%.c
	$(shared_object)

# ---- bench ---------------------------------------------------------------------------------------

$(BUILD)/tests/bench/generate.bpf.o: tests/bench/generate.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<
	$(Q)llvm-strip -g $@

$(BUILD)/generate.skel.h: $(BUILD)/tests/bench/generate.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name generate_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/tests/bench/generate.o: | $(BUILD)/generate.skel.h

$(BUILD)/tests/generate: $(BUILD)/tests/bench/generate.o $(BUILD)/common/pcap_read.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf

$(BUILD)/tests/filter_cost: $(BUILD)/tests/bench/filter_cost.o $(BUILD)/common/pcap_read.o $(FILTER)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf

STAGES := wire/compress.o common/pcap_read.o agent/export/session_send.o agent/export/sockets.o collector/combo/decompress.o \
	collector/output/pcapng.o
$(BUILD)/tests/stages: $(BUILD)/tests/bench/stages.o $(addprefix $(BUILD)/,$(STAGES)) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

PIPELINES := capture/capture capture/fill capture/queue capture/readings capture/watermark export/compressor export/level export/pipeline export/session_send \
	export/sockets export/store rings/mapped radio/dwells source/clock
$(BUILD)/tests/pipelines: $(BUILD)/tests/bench/pipelines.o $(PIPELINES:%=$(BUILD)/agent/%.o) $(BUILD)/wire/compress.o \
		$(BUILD)/common/pcap_read.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/tests/collector_rate: $(BUILD)/tests/bench/collector_rate.o $(BUILD)/swarm/combos.o \
		$(filter-out $(BUILD)/collector/main.o,$(COLLECTOR)) $(BOARD) $(ARCHIVE) $(PCAPNG) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COLLECTOR)

$(BUILD)/tests/sink: $(BUILD)/tests/bench/sink.o $(filter-out $(BUILD)/collector/combo/split_combo.o,$(COLLECTOR)) $(BOARD) $(ARCHIVE) $(PCAPNG) $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COLLECTOR)

$(BUILD)/tests/straw_man: $(BUILD)/tests/bench/straw_man.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/tests/shroud_plain: $(BUILD)/tests/bench/shroud_plain.o $(BUILD)/swarm/combos.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

$(BUILD)/tests/kafka_feed $(BUILD)/tests/kafka_confirm: $(BUILD)/tests/%: $(BUILD)/tests/bench/%.o $(WIRE)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^

# Module costs: compiled for user space, into the module runner, and linked with the shim.
BENCH_MODULES := $(filter count lrd rtt trajectory worm,$(MODULE_NAMES))
BENCH_BPF := $(patsubst %,$(BUILD)/tests/bench/%.bpf.o,feed slotless)
BENCH_MODULE_OBJECTS := $(foreach m,$(BENCH_MODULES),$(patsubst %,$(BUILD)/tests/bench/modules/$(m).%, \
	plain.so inlined.o protected.o))

$(BENCH_BPF): $(BUILD)/tests/bench/%.bpf.o: tests/bench/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I. -Ibpf -c -o $@ $<
	$(Q)llvm-strip -g $@

$(BUILD)/tests/bench/modules/%.inlined.o: tests/bench/inlined.bpf.c bpf/modules/$$*/$$*.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I. -Ibpf -DMODULE_SOURCE='"bpf/modules/$*/$*.bpf.c"' -c -o $@ $<
	$(Q)llvm-strip -g $@

$(BUILD)/tests/bench/modules/%.plain.so: bpf/modules/$$*/$$*.bpf.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -Wno-unknown-pragmas -O2 -MMD -MP -fPIC -shared -D__bpf__ -Itests/bench/host -Iinclude \
		-Wl,-Bsymbolic -o $@ $<

$(BUILD)/tests/bench/modules/%.protected.o: $(BUILD)/bpf/module_xdp.bpf.o $(BUILD)/modules/%.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/tests/modules_cost: $(patsubst %,$(BUILD)/%.o,tests/bench/modules_cost tests/bench/modules_chain \
		tests/bench/plain_view agent/module/access_extent agent/module/splice agent/module/table common/pcap_read agent/rings/ring \
		agent/programs/program)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -lbpf -ldl
$(BUILD)/tests/modules_cost: | $(BENCH_BPF) $(BENCH_MODULE_OBJECTS) $(BUILD)/bpf/capture.bpf.o $(BUILD)/bpf/modules.bpf.o

.PHONY: bench
bench: deps-bench ## measure: a table, and build/bench.json (BENCH_SECONDS=5 a rung)
	$(Q)$(MAKE_QUIETLY) all $(BENCH_PROGRAMS)
	$(Q)$(if $(BENCH),$(if $(findstring ap70,$(BENCH)),,:)) $(MAKE_QUIETLY) ap70-virtual
	$(Q)$(SUDO) env SALUKI_CAPTURES="$(abspath $(SALUKI_CAPTURES))" PYTHONPATH=tests:packaging \
		$(TOOLS)/bin/python -m bench $(BENCH)

define unit_rule
$(BUILD)/tests/unit/$(1): $(BUILD)/tests/unit/$(1).o $(call unit_links,tests/unit/$(1).c)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) -o $$@ $$^ $$(LIB_CMOCKA) $$(LIBS_COMMON)
endef
$(foreach t,$(notdir $(UNIT)),$(eval $(call unit_rule,$(t))))
$(addprefix $(BUILD)/tests/unit/,test_lrd test_merge_clock test_merge_many): LIB_CMOCKA += -lm
$(BUILD)/tests/unit/test_insert: LIB_CMOCKA += -lbpf

# ---- fuzz ----------------------------------------------------------------------------------------

# A separate make builds the harnesses, in FUZZ_BUILD, with clang and instrumentation for all their
# code. They name their objects as unit tests do.
FUZZ_BUILD := build/fuzz
FUZZ_SECONDS ?= 60
FUZZ_MAKE = $(MAKE_QUIETLY) BUILD=$(FUZZ_BUILD) CC=$(CLANG) \
	CFLAGS='-O1 -g1 -Werror' SANITIZE=fuzzer-no-link,address,undefined
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
define fuzz_rule
$(BUILD)/tests/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).o $(call unit_links,tests/fuzz/$(1).c)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) -fsanitize=fuzzer -o $$@ $$^ $$(LIBS_COMMON)
endef
$(foreach t,$(notdir $(FUZZERS)),$(eval $(call fuzz_rule,$(t))))

$(BUILD)/tests/fuzz/fuzz_http: LIBS_COMMON += -lmicrohttpd
$(BUILD)/tests/fuzz/fuzz_merge: LIBS_COMMON += -lm

.PHONY: fuzz fuzz-seeds fuzz-merge fuzzers fuzzers-here
fuzzers-here: $(FUZZERS)
fuzzers:
	+$(Q)$(FUZZ_MAKE) fuzzers-here

fuzz: deps-test fuzzers $(BUILD)/tests/trim_run ## fuzz each parser for FUZZ_SECONDS=60, or FUZZ=NAME
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run fuzz $(FUZZ)

$(BUILD)/tests/fuzz/seeds: $(patsubst %,$(BUILD)/%.o,tests/fuzz/seeds common/pcap_read \
		wire/compress wire/combo wire/columns wire/combo_open wire/dot11_templates wire/fields wire/wired_templates \
		wire/wired_append wire/tails wire/wired_next wire/dictionary wire/module_event)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_COMMON)

fuzz-seeds: deps-test fuzzers $(BUILD)/tests/fuzz/seeds $(BUILD)/saluki-merge $(BUILD)/tests/parquet_write $(HOSTILE_MODULES) $(MODULES) ## remake corpora when the wire format has changed
	$(Q)$(TOOLS)/bin/python tests/fuzz/seeds.py $(BUILD)/tests/fuzz/seeds $(FUZZ_BUILD)/seeds
	$(Q)tests/fuzz/run merge $(FUZZ)

fuzz-merge: fuzzers ## merge the inputs found by make fuzz into the corpora
	$(Q)tests/fuzz/run merge $(FUZZ)

.PHONY: test-programs units test-unit test check
test-programs: $(PROGRAMS) $(TEST_PROGRAMS) $(if $(WITHOUT),,$(HOSTILE_MODULES) $(RUN_MODULES) $(MODULES)) $(if $(SANITIZE),,$(BENCH_PROGRAMS)) units

units: $(UNIT) # tests/run needs their list
	$(Q)printf '%s\n' $(UNIT) > $(BUILD)/units

test-unit: $(UNIT)
	$(Q)set -e; for t in $(UNIT); do $$t; done

# All builds at a time: some end with one long step, beside which another has work for the other CPUs. Sanitizers
# need lines in their reports (-g1), and no more.
BUILDS := ap70-test-programs built-plain built-sanitized fuzzers built-without
.PHONY: built-plain built-sanitized built-without
built-plain:
	+$(Q)$(MAKE_QUIETLY) all test-programs CFLAGS='-O2 -g -Werror'
built-sanitized:
	+$(Q)$(MAKE_QUIETLY) all test-programs SANITIZE=address,undefined CFLAGS='-O1 -g1'
built-without:
	+$(Q)$(MAKE_QUIETLY) build/without-bpf-pcap-seccomp/saluki WITHOUT="bpf pcap seccomp" CFLAGS='-O2 -g -Werror'

# Built files belong to the user; only the tests themselves run as root.
test: deps-test ## build (plain and sanitized) and pass all tests
	$(Q)echo "== build: plain; sanitized; fuzz harnesses; AP70; warnings are errors"
	$(Q)$(MAKE_QUIETLY) $(BUILDS)
	$(Q)$(SUDO) env SALUKI_CAPTURES="$(SALUKI_CAPTURES)" CI="$(CI)" tests/run $(ARGS)

check: deps-test ## build, and pass the tests that take a minute
	$(Q)$(MAKE_QUIETLY) built-plain
	$(Q)$(SUDO) tests/run check $(ARGS)

# In a tree built by `make test`.
.PHONY: test-foreign
test-foreign: ## pass the tests that need foreign captures, SALUKI_CAPTURES
	$(Q)$(SUDO) env SALUKI_CAPTURES="$(SALUKI_CAPTURES)" CI="$(CI)" tests/run foreign $(ARGS)

.PHONY: test-web
test-web: deps-test ## pass all tests of saluki-web and its page, in Chromium and with Prometheus
	$(Q)$(MAKE_QUIETLY) built-plain
	$(Q)$(SUDO) env CI="$(CI)" tests/run web $(ARGS)

# Only CI must have a broker. Elsewhere its tests are skipped without one, and say why.
.PHONY: test-kafka
test-kafka: deps-test ## pass the tests of saluki-kafka with a real broker, which Maven fetches
	$(call install_packages,$(PACKAGES_KAFKA)) || [ -z "$(CI)" ]
	$(Q)$(MAKE_QUIETLY) built-plain
	$(Q)cd tests && $(SUDO) env PYTHONPATH=.:../packaging ../$(TOOLS)/bin/python -m kafka.jars || [ -z "$(CI)" ]
	$(Q)$(SUDO) env CI="$(CI)" tests/run kafka $(ARGS)

# Each is hundreds of megabytes, and needs no privilege.
READERS := $(BUILD)/readers
$(READERS)/.done: tests/readers/requirements.txt
	$(call say,VENV,$(READERS))
	$(Q)$(PYTHON) -m venv $(READERS)
	$(Q)$(READERS)/bin/pip install -q --disable-pip-version-check -r $<
	$(Q)touch $@

.PHONY: test-readers
test-readers: deps-test ## read an archive's tables with ClickHouse and Spark
	$(call install_packages,default-jre-headless)
	$(Q)$(MAKE_QUIETLY) built-plain $(READERS)/.done
	$(Q)cd tests && ../$(TOOLS)/bin/python -m pytest -q -p no:cacheprovider readers $(ARGS)

.PHONY: captures
captures: deps-test ## remake tests/captures, or parts: CAPTURES="air headers wire bad"
	$(Q)$(MAKE_QUIETLY) all test-programs
	$(Q)$(SUDO) env PYTHONPATH=tests:packaging $(TOOLS)/bin/python -m captures $(CAPTURES)

.PHONY: test-full
test-full: deps-test ## filters in the kernel against libpcap's, on every frame of all captures
	$(Q)$(MAKE_QUIETLY) $(BUILD)/tests/filter_run
	$(Q)$(SUDO) env SALUKI_CAPTURES="$(abspath $(SALUKI_CAPTURES))" PYTHONPATH=tests \
		$(TOOLS)/bin/python -m bpf.test_filter

PACKAGES_FOLDER ?= build/packages
.PHONY: packages test-package
packages: deps ## build the Debian packages, from the committed files, into build/packages
	$(call install_packages,$(PACKAGES_PACKAGE))
	$(Q)rm -rf $(PACKAGES_FOLDER) && mkdir -p $(PACKAGES_FOLDER)/saluki
	$(Q)git -c safe.directory=$(CURDIR) archive HEAD | tar -x -C $(PACKAGES_FOLDER)/saluki
	$(Q)cd $(PACKAGES_FOLDER)/saluki && dpkg-buildpackage -us -uc -b

test-package: deps-test ## build the Debian packages twice, and install and run them in a VM with systemd
	$(call install_packages,$(PACKAGES_PACKAGE))
	$(Q)$(MAKE_QUIETLY) all $(BUILD)/tests/play
	$(Q)$(SUDO) env CI="$(CI)" tests/run package $(ARGS)

.PHONY: test-chroot
test-chroot: ## run and test in a fresh Debian 12 with nothing but git and make
	$(call install_packages,debootstrap)
	$(Q)$(SUDO) env SALUKI_CAPTURES="$(SALUKI_CAPTURES)" tests/chroot

# ---- modules -------------------------------------------------------------------------------------

include bpf/modules/module.mk

# Modules' objects and consumers are together, as installed. The consumers' own objects are
# elsewhere: both would be NAME.o.
.PHONY: modules
modules: $(MODULES) $(CONSUMERS) ## build the modules that come with saluki, and their consumers
all: $(if $(WITHOUT),,$(if $(shell command -v $(CLANG)),modules))

$(MODULES): $(BUILD)/modules/%.o: bpf/modules/$$*/$$*.bpf.c Makefile bpf/modules/module.mk
$(HOSTILE_MODULES) $(RUN_MODULES): $(BUILD)/%.o: %.c Makefile bpf/modules/module.mk
$(LOOK) $(BUSY): $(BUILD)/%.o: %.bpf.c
$(MODULES) $(HOSTILE_MODULES) $(RUN_MODULES) $(LOOK) $(BUSY): MODULE_MORE = -MMD -MP
$(MODULES) $(HOSTILE_MODULES) $(RUN_MODULES) $(LOOK) $(BUSY):
	$(call say,MODULE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call MODULE_COMPILE,$@,$<)

$(CONSUMERS): $(BUILD)/modules/%: $(BUILD)/bpf/modules/$$*/$$*.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CONSUMER_LIBS)

# ---- AP70 ----------------------------------------------------------------------------------------

include packaging/ap70/ap70.mk

# Last, so that it is behind the objects that call what is in it.
$(PROGRAMS) $(UNIT) $(FUZZERS) $(filter-out %.o %.so,$(TEST_PROGRAMS) $(BENCH_PROGRAMS)): $(COMMON)

# ---- install -------------------------------------------------------------------------------------

SHARE := $(PREFIX)/share
MAN_PAGES := $(wildcard docs/*.[1-8])
INSTALL_FILES := \
	755:$(BUILD)/saluki:$(PREFIX)/sbin/saluki \
	755:$(BUILD)/saluki-collector:$(PREFIX)/sbin/saluki-collector \
	755:$(BUILD)/saluki-kafka:$(PREFIX)/sbin/saluki-kafka \
	755:$(BUILD)/saluki-keep:$(PREFIX)/bin/saluki-keep \
	755:$(BUILD)/saluki-live:$(PREFIX)/bin/saluki-live \
	755:$(BUILD)/saluki-merge:$(PREFIX)/bin/saluki-merge \
	755:merge/report/saluki-merge-report:$(PREFIX)/bin/saluki-merge-report \
	$(foreach f,$(notdir $(wildcard merge/report/*.py)),644:merge/report/$f:$(SHARE)/saluki/merge-report/$f) \
	755:$(BUILD)/saluki-swarm:$(PREFIX)/sbin/saluki-swarm \
	755:$(BUILD)/saluki-web:$(PREFIX)/sbin/saluki-web \
	$(foreach m,$(MAN_PAGES),644:$m:$(SHARE)/man/man$(subst .,,$(suffix $m))/$(notdir $m)) \
	644:$(BUILD)/completion/saluki:$(SHARE)/bash-completion/completions/saluki \
	644:$(BUILD)/completion/saluki-collector:$(SHARE)/bash-completion/completions/saluki-collector \
	644:$(BUILD)/completion/saluki-kafka:$(SHARE)/bash-completion/completions/saluki-kafka \
	644:$(BUILD)/completion/saluki-keep:$(SHARE)/bash-completion/completions/saluki-keep \
	644:$(BUILD)/completion/saluki-live:$(SHARE)/bash-completion/completions/saluki-live \
	644:$(BUILD)/completion/saluki-merge:$(SHARE)/bash-completion/completions/saluki-merge \
	644:$(BUILD)/completion/saluki-merge-report:$(SHARE)/bash-completion/completions/saluki-merge-report \
	644:$(BUILD)/completion/saluki-swarm:$(SHARE)/bash-completion/completions/saluki-swarm \
	644:$(BUILD)/completion/saluki-web:$(SHARE)/bash-completion/completions/saluki-web \
	644:README.md:$(SHARE)/doc/saluki/README.md \
	$(foreach h,module.h consumed.h consumer.h consumer_lines.h,644:include/saluki/$h:$(PREFIX)/include/saluki/$h) \
	$(foreach m,$(MODULES),644:$m:$(PREFIX)/lib/saluki/modules/$(notdir $m)) \
	$(foreach m,$(CONSUMERS),755:$m:$(PREFIX)/lib/saluki/modules/$(notdir $m)) \
	644:bpf/modules/module.mk:$(SHARE)/saluki/module.mk \
	$(foreach f,$(notdir $(wildcard docs/*.md docs/analyse-*.png)) pipeline.svg wireshark.png web.png coverage.py,644:docs/$f:$(SHARE)/doc/saluki/$f) \
	644:packaging/prometheus/saluki.rules.yml:$(SHARE)/saluki/prometheus/saluki.rules.yml \
	644:LICENSE:$(SHARE)/doc/saluki/LICENSE

# Wireshark lists what is in its own folder.
EXTCAP ?= $(if $(filter /usr /usr/local,$(PREFIX)),/usr/lib/$(shell gcc -print-multiarch),$(PREFIX)/lib)/wireshark/extcap

.PHONY: install uninstall
install: all modules ## install programs and pages below DESTDIR and PREFIX (/usr/local)
	$(Q)set -e; for f in $(INSTALL_FILES); do IFS=:; set -- $$f; unset IFS; \
		install -D -m $$1 $$2 "$(DESTDIR)$$3"; echo "  INSTALL  $(DESTDIR)$$3"; done
	$(Q)mkdir -p "$(DESTDIR)$(EXTCAP)" && ln -sfn $(PREFIX)/bin/saluki-live "$(DESTDIR)$(EXTCAP)/saluki"
	$(Q)ln -sfn $(PREFIX)/bin/saluki-keep "$(DESTDIR)$(EXTCAP)/saluki-archive"

uninstall: ## remove the installed files
	$(Q)for f in $(INSTALL_FILES); do rm -f "$(DESTDIR)$${f##*:}"; done
	$(Q)rm -f "$(DESTDIR)$(EXTCAP)/saluki" "$(DESTDIR)$(EXTCAP)/saluki-archive"
	$(Q)rmdir "$(DESTDIR)$(SHARE)/doc/saluki" "$(DESTDIR)$(SHARE)/saluki/prometheus" "$(DESTDIR)$(SHARE)/saluki/merge-report" "$(DESTDIR)$(SHARE)/saluki" \
		"$(DESTDIR)$(PREFIX)/include/saluki" "$(DESTDIR)$(PREFIX)/lib/saluki/modules" \
		"$(DESTDIR)$(PREFIX)/lib/saluki" 2>/dev/null || true

# ---- for developers --------------------------------------------------------------------------------

SOURCES := $(wildcard agent/*.[ch] agent/*/*.[ch] archive/*.[ch] board/*.[ch] collector/*.[ch] collector/*/*.[ch] common/*.[ch] dissect/*.[ch] kafka/*.[ch] kafka/*/*.[ch] keep/*.[ch] keep/*/*.[ch] live/*.[ch] merge/*.[ch] merge/*/*.[ch] pcapng/*.[ch] print/*.[ch] swarm/*.[ch] web/*.[ch] wire/*.[ch] bpf/*.[ch] bpf/modules/*.[ch] bpf/modules/*/*.[ch] \
	include/saluki/*.h tests/*/*.[ch] packaging/*/*.[ch])

compile_commands.json: all test-programs ## for clangd and other tools
	$(Q){ echo '['; cat $$(find $(BUILD) -name '*.o.json' -not -path '*/sanitize-*' \
		-not -path '*/strict/*' -not -path '*/without-*' -not -path '*/ap70/*' \
		-not -path '$(FUZZ_BUILD)/*') | sed '$$s/,$$//'; echo ']'; } > $@
.PHONY: compile_commands.json format lint clean help dictionary picture

dictionary: build/tests/bodies ## remake the dictionary from HWSIM=hwsim-all-groundtruth.pcap
	$(Q)$(PYTHON) tests/dictionary/train.py --bodies $< --hwsim $(HWSIM) \
		--out wire/dictionary_dot11.bin

picture: docs/pipeline.svg ## draw the README's picture from docs/pipeline.txt
docs/pipeline.svg: docs/pipeline.txt docs/pipeline.py
	$(Q)$(PYTHON) docs/pipeline.py < $< > $@.tmp && mv $@.tmp $@

format: ## lay the C sources out with clang-format
	$(call install_packages,clang-format)
	$(Q)clang-format -i $(SOURCES)

# clang-tidy reads each file's compiler flags from compile_commands.json.
SCRIPTS := .ci/run tests/run tests/chroot tests/fuzz/run $(wildcard tests/*/init) tests/package/scenario debian/tests/ledger \
	$(wildcard debian/*.postinst debian/*.prerm debian/*.postrm) packaging/openwrt/saluki/files/saluki.init
lint: deps-test ## look for mistakes with clang-tidy, cppcheck, shellcheck and ruff, and for unformatted sources
	$(call install_packages,$(PACKAGES_LINT))
	$(Q)clang-format --dry-run -Werror $(SOURCES)
	$(Q)shellcheck -S warning $(SCRIPTS)
	$(Q)$(TOOLS)/bin/ruff check -q .
	$(Q)cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		-j $(shell nproc) --suppressions-list=tests/cppcheck-suppressions \
		'-DLIBBPF_OPTS(t,n,...)=struct t n' '-Dnla_for_each_nested(p,n,r)=for(;r;)' \
		-Iinclude -I. -I$(BUILD) agent archive board collector $(wildcard common) dissect kafka keep live merge pcapng print swarm web wire
	$(Q)$(MAKE_QUIETLY) compile_commands.json
	$(Q)printf '%s\n' $(AGENT_SOURCES) $(COLLECTOR_SOURCES) $(KEEP_SOURCES) $(MERGE_SOURCES) $(wildcard archive/*.c board/*.c common/*.c dissect/*.c kafka/*.c kafka/*/*.c live/*.c pcapng/*.c print/*.c swarm/*.c web/*.c wire/*.c) | \
		xargs -P $(shell nproc) -n 8 clang-tidy -p . --quiet --extra-arg-before=-isystem$(CURDIR)/$(BUILD) 2>/dev/null

clean: ## remove all built files
	rm -rf build compile_commands.json

help: ## print this
	@sed -n 's/^\([a-z0-9_.-]*\):.*## /\1: /p' $(MAKEFILE_LIST) | \
		awk -F': ' '{ printf "  %-24s %s\n", $$1, $$2 }'
	@echo "  Variables: V=1 SANITIZE=address,undefined PREFIX= DESTDIR= IFACE= CFLAGS= FUZZ= SALUKI_CAPTURES="

# Other builds are in folders of this one, as build/fuzz.
OBJECT_FOLDERS := $(wildcard $(patsubst %,$(BUILD)/%/,agent archive board bpf cmocka collector common dissect kafka keep live merge modules pcapng print sodium swarm tests web wire zstd))
-include $(if $(OBJECT_FOLDERS),$(shell find $(OBJECT_FOLDERS) -name '*.d'))
