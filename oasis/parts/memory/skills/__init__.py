"""Instruction packages for a task: files of Markdown with a small head, shipped or the owner's own.

---
name: guest-wifi                     small letters, digits and dashes; the name of the file
description: what the task is, in one line
words: said by who means it, in any language, with commas between       may be left out
tools: status, configure                                                only these are told of then
model: nano                                                             an alias, or a service
---
What to do, in Markdown.
"""
