"""The MCP client: tools, resources and prompts of other people's servers, each as a source of the registry."""
