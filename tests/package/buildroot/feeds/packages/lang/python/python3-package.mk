ifneq ($(PYTHON3_PKG_BUILD),0)
  $(error the sources are no Python project: PYTHON3_PKG_BUILD:=0)
endif

define Python3/CompileAll
	$(PYTHON) -m compileall -q -b -d / $(1)
endef

define Python3/DeleteSourceFiles
	$(FIND) $(1) -type f -name '*.py' -delete
endef

define Python3/DeleteNonSourceFiles
	$(FIND) $(1) -not -type d -not -name '*.py' -delete
endef

define Python3/DeleteEmptyDirs
	$(FIND) $(1) -mindepth 1 -empty -type d -delete
endef

define Py3Package
  define Package/$(1)-src
    $(Package/$(1))
    DEPENDS:=
    CONFLICTS:=
    USERID:=
  endef
endef
