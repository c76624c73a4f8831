"""The front end on ubus: the methods as bus objects."""
