"""Tools that are off until the owner sets them up: files and programs in a workspace, pages and searches of the web."""
