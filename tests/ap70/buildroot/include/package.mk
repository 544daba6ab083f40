# SPDX-License-Identifier: GPL-2.0
# In place of OpenWrt's: builds below BUILD_DIR, and installs what would be packed into ROOT.
PKG_BUILD_DIR := $(BUILD_DIR)/$(PKG_NAME)-$(PKG_VERSION)
PKG_JOBS := -j2

define BuildPackage
.PHONY: package depends
depends:
	@echo $(PKG_FILE_DEPENDS)

package:
	$(call Build/Prepare)
	$(call Build/Configure)
	$(call Build/Compile)
	$(call Package/$(1)/install,$(ROOT))
endef
