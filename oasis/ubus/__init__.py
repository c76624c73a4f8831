"""The pure-Python ubus: messages, connections, our objects and calls of others."""
