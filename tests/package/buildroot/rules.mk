# A stand-in for OpenWrt's build system, as small as a feed's Makefile lets it be: real GNU make reads the Makefile, and
# `make -f Makefile TOPDIR=… OUT=… PYTHON=…` lays out every package below OUT/NAME, with what it says of itself in
# OUT/NAME.control and its scripts in OUT/NAME.SCRIPT. The words are OpenWrt's, the bodies are not.
INCLUDE_DIR:=$(TOPDIR)/include
BUILD_DIR:=$(OUT)/build
INSTALL_DIR:=install -d -m0755
INSTALL_BIN:=install -m0755
INSTALL_DATA:=install -m0644
INSTALL_CONF:=install -m0600
CP:=cp -fpR
FIND:=find
SHELL:=/bin/sh

all:

.PHONY: all
