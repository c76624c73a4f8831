"""Who a run is for: what a model is told for him, who stands at the desk, and whose words his message may be.

The owner himself, and the owner by a messenger, are here; others are where they come from
(parts/schedule/unattended.py, parts/telegram/people.py) and change what is different for them. Knows no front-end.
"""

from __future__ import annotations

if False:  # annotations only
    from oasis.core.shapes import Any, Callable


class Present:
    """Somebody whom a run is for; these are the owner's, who sits at the page or a terminal.

    is_attended    somebody waits for the answer, and a chat is worth a title
    is_told        a model is told what stands beside the chat for him: facts, skills, documents
    has_teller     a model hears what tools say, though none is asked for their calls
    words          whose words a message may be, as taint of what is remembered of it
    role           in the table of who may call what (table.py): which tools work for them
    desk           who decides about plans in his place (tools/operator.py, `unattended`), None: he does
    """

    is_attended = True
    is_told = True
    has_teller = False
    words: tuple[str, ...] = ()
    role = "owner"
    desk: Any = None

    def asking(self, services: list[Any], told: Any, asker: Any) -> tuple[list[Any], Any]:
        """Return who answers, and what asks it; `told` is what stands beside the chat, None without a model."""
        return services, asker

    def around(self, answer: Callable[..., tuple[str, str]]) -> Callable[..., tuple[str, str]]:
        """Return what answers."""
        return answer


class Distant(Present):
    """The owner by a messenger: his words come through a program that talks to the network, and may be anybody's."""

    words = ("words that came by a messenger",)
    role = "messenger"


OWNER, MESSENGER = Present(), Distant()
