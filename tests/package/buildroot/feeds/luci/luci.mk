LUCI_NAME:=$(notdir $(CURDIR))
PKG_NAME?=$(LUCI_NAME)

include $(INCLUDE_DIR)/package.mk

PKG_BUILD_DIR:=$(BUILD_DIR)/$(PKG_NAME)

define Package/$(PKG_NAME)
  SECTION:=luci
  CATEGORY:=LuCI
  TITLE:=$(LUCI_TITLE)
  DEPENDS:=$(LUCI_DEPENDS)
  EXTRA_DEPENDS:=$(LUCI_EXTRA_DEPENDS)
  PKGARCH:=$(LUCI_PKGARCH)
endef

define Build/Prepare
	for d in htdocs root; do \
		mkdir -p $(PKG_BUILD_DIR)/$$d; \
		$(CP) ./$$d/* $(PKG_BUILD_DIR)/$$d/; \
	done
	$(call Build/Prepare/$(LUCI_NAME))
endef

define Package/$(PKG_NAME)/install
	$(INSTALL_DIR) $(1)/www
	cp -pR $(PKG_BUILD_DIR)/htdocs/* $(1)/www/
	cp -pR $(PKG_BUILD_DIR)/root/* $(1)/
endef

define Translation
  define Package/luci-i18n-oasis-$(2)
    SECTION:=luci
    CATEGORY:=LuCI
    TITLE:=$(PKG_NAME) - $(1) translation
    DEPENDS:=$(PKG_NAME)
    PKGARCH:=all
  endef
  Package/luci-i18n-oasis-$(2)/install=cp -pR po/$(1) $$(1)/
endef

LANGUAGES:=$(filter-out templates,$(notdir $(wildcard po/*)))
# As LuCI calls its packages.
CODES:=$(LANGUAGES:zh_Hans=zh-cn)
$(foreach language,$(LANGUAGES),$(eval $(call Translation,$(language),$(language:zh_Hans=zh-cn))))
$(foreach name,$(PKG_NAME) $(CODES:%=luci-i18n-oasis-%),$(eval $(call BuildPackage,$(name))))
