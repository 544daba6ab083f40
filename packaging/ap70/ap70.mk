# SPDX-License-Identifier: GPL-2.0
# The sensor for the AP70 (docs/design.md): MIPS32 release 1 without a floating-point unit, both byte orders,
# static. Included by the Makefile, whose own rules then build the agent with this compiler, without the
# libraries that the AP70 does not have. What is fetched is in a cache that all clones share.

CACHE := $(or $(SALUKI_CACHE),$(HOME)/.cache/saluki)
AP70_ZIG := $(CACHE)/zig-0.17.1/zig
ZSTD_SOURCE := $(CACHE)/libzstd-1.5.7/lib
SODIUM_SOURCE := $(CACHE)/libsodium-1.0.18/src/libsodium
AP70_MACHINES := mips mipsel
AP70_CFLAGS := -Os -fno-sanitize=undefined -ffunction-sections -fdata-sections -fno-unwind-tables \
	-fno-asynchronous-unwind-tables

.PHONY: ap70
ap70: deps-ap70 ## build the sensor for the AP70 and other MIPS32: build/ap70/mips/saluki, .../mipsel/saluki
	$(Q)set -e; for m in $(AP70_MACHINES); do $(MAKE) --no-print-directory AP70=$$m \
		BUILD=build/ap70/$$m WITHOUT="bpf pcap seccomp" CFLAGS="$(AP70_CFLAGS)" \
		CC="$(AP70_ZIG) cc -target $$m-linux-musleabi -mcpu=mips32 -msoft-float" \
		LDFLAGS="-static -s -Wl,--gc-sections" \
		LIBS_COMMON="build/ap70/$$m/libzstd.a build/ap70/$$m/libsodium.a" build/ap70/$$m/saluki; done

.PHONY: deps-ap70
deps-ap70: deps-test
	$(Q)$(TOOLS)/bin/python packaging/ap70/fetch.py

ifdef AP70

export ZIG_GLOBAL_CACHE_DIR := $(CACHE)/zig-cache
# Warnings: musl's CMSG_NXTHDR compares signs, and what is atomic in 64 bits takes a lock here.
override CFLAGS += -Wno-sign-compare -Wno-atomic-alignment -I$(ZSTD_SOURCE) -I$(BUILD)/include
$(BUILD)/saluki: $(LIBS_COMMON)

# Levels above 1 are not used, nor is decompression.
ZSTD_FLAGS := -DXXH_NAMESPACE=ZSTD_ -DDYNAMIC_BMI2=0 -DZSTD_DISABLE_ASM -DZSTD_NOTRACE \
	$(patsubst %,-DZSTD_EXCLUDE_%_BLOCK_COMPRESSOR,DFAST GREEDY LAZY LAZY2 BTLAZY2 BTOPT BTULTRA)
ZSTD_OBJECTS := $(patsubst $(ZSTD_SOURCE)/%.c,$(BUILD)/zstd/%.o,$(wildcard $(ZSTD_SOURCE)/common/*.c \
	$(ZSTD_SOURCE)/compress/*.c))
$(BUILD)/libzstd.a: $(ZSTD_OBJECTS)
$(BUILD)/zstd/%.o: $(ZSTD_SOURCE)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -W%,$(CFLAGS)) -w $(ZSTD_FLAGS) -c -o $@ $<

SODIUM_FLAGS := -DCONFIGURED -DNATIVE_$(if $(filter mips,$(AP70)),BIG,LITTLE)_ENDIAN -DHAVE_WEAK_SYMBOLS \
	-DHAVE_ATOMIC_OPS -DHAVE_NANOSLEEP -I$(BUILD)/include/sodium
SODIUM_OBJECTS := $(patsubst %,$(BUILD)/sodium/%.o,$(addprefix crypto_aead/chacha20poly1305/sodium/, \
		aead_chacha20poly1305) $(addprefix crypto_stream/chacha20/,stream_chacha20 ref/chacha20_ref) \
	$(addprefix crypto_onetimeauth/poly1305/,onetimeauth_poly1305 donna/poly1305_donna) \
	$(addprefix crypto_generichash/,crypto_generichash $(addprefix blake2b/,generichash_blake2 \
		$(addprefix ref/,blake2b-compress-ref blake2b-ref generichash_blake2b))) \
	$(addprefix crypto_scalarmult/,crypto_scalarmult curve25519/scalarmult_curve25519 \
		curve25519/ref10/x25519_ref10) crypto_core/ed25519/ref10/ed25519_ref10 \
	crypto_verify/sodium/verify randombytes/randombytes randombytes/sysrandom/randombytes_sysrandom \
	$(addprefix sodium/,core runtime utils codecs)) $(BUILD)/packaging/ap70/sodium.o
$(BUILD)/libsodium.a: $(SODIUM_OBJECTS)
$(SODIUM_OBJECTS) $(AGENT) $(WIRE): | $(BUILD)/include/sodium/version.h
$(BUILD)/sodium/%.o: $(SODIUM_SOURCE)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -W%,$(CFLAGS)) -w $(SODIUM_FLAGS) -c -o $@ $<

# With what configure would make.
$(BUILD)/include/sodium/version.h: $(SODIUM_SOURCE)/include/sodium/version.h.in
	$(Q)mkdir -p $(@D)
	$(Q)cp -r $(SODIUM_SOURCE)/include/. $(BUILD)/include
	$(Q)sed -e 's/@VERSION@/1.0.18/' -e 's/@SODIUM_LIBRARY_VERSION_MAJOR@/10/' \
		-e 's/@SODIUM_LIBRARY_VERSION_MINOR@/3/' -e 's/@SODIUM_LIBRARY_MINIMAL_DEF@//' $< > $@.tmp && mv $@.tmp $@

$(BUILD)/lib%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AP70_ZIG) ar rcs $@ $^

endif
