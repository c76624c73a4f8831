"""Tool servers made for upstream: plugins of rpcd, described by manifests, called once the owner reviewed them."""
