"""What the owner of a router does with keys and images: WireGuard, keys of SSH, the password, firmware, uploads."""
