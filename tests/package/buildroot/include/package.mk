PKG_BUILD_DIR?=$(BUILD_DIR)/$(PKG_NAME)-$(PKG_VERSION)
TEXTS:=conffiles postinst prerm postrm
FIELDS:=SECTION CATEGORY TITLE DEPENDS EXTRA_DEPENDS CONFLICTS USERID PKGARCH

# A text goes through the environment, as OpenWrt does it: every `$$` of the Makefile has become a `$`.
define Text
ifdef Package/$(1)/$(2)
  export text_$(subst -,_,$(1))_$(2)=$$(Package/$(1)/$(2))
  TEXTS_$(1)+=$(2)
endif
endef

define BuildPackage
  $(foreach field,$(FIELDS),$(eval $(field):=))
  $(eval $(Package/$(1)))
  $(foreach text,$(TEXTS),$(eval $(call Text,$(1),$(text))))
  ifeq ($$(origin Package/$(1)/install),undefined)
    $$(error $(1) has no install section)
  endif
  all: package-$(1)
  .PHONY: package-$(1)
  package-$(1): prepared
	$(INSTALL_DIR) $(OUT)/$(1)
	$(call Package/$(1)/install,$(OUT)/$(1))
	printf '%s\n' $(foreach field,$(FIELDS),'$(field): $($(field))') 'VERSION: $(PKG_VERSION)-r$(PKG_RELEASE)' >$(OUT)/$(1).control
	$(foreach text,$(TEXTS_$(1)),printf '%s\n' "$$$$text_$(subst -,_,$(1))_$(text)" >$(OUT)/$(1).$(text);)
endef

.PHONY: prepared
prepared:
	rm -rf $(PKG_BUILD_DIR)
	$(Build/Prepare)
	$(Build/Compile)
