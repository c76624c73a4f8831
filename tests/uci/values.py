"""The package that the conformance tests read and change."""

NETWORK = b"""
config interface 'lan'
\toption proto 'static'
\toption ipaddr '192.168.1.1'
\tlist dns '1.1.1.1'
\tlist dns 'it'\\''s'

config rule
\toption name 'first'

config rule 'named'
\toption name 'second'
\toption on 'yes'

config rule
\toption note 'two
lines'
"""
