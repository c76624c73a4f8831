"""Oasis: an operator for OpenWrt routers that lives on the router."""

VERSION = "0.2.0"
