"""Tool servers made for upstream: plugins of rpcd, described by manifests, called once the owner reviewed them."""

# Where manifests of tool servers are put.
FOLDER = "/etc/oasis/tool-manifest.d"
