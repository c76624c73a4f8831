"""Every error that Oasis raises on purpose; imports nothing, runs under MicroPython too.

    OasisError
        UsageError          the caller asked for something that does not exist or is badly formed
            BusyError       well asked, and there is no room for it now
        SettingsError       a setting, key file or installation is wrong
        SchemaError         a value does not have its documented shape; the message names the path
        StoreError          a file could not be read or written; nothing already stored was lost
        UciError            a UCI file, name or operation was refused; words as libuci's
            UnwrittenError  somebody else wrote at the same moment; nothing of the change was written
        PolicyError         the request is understood and not allowed
            UnprovedError   keeping a change needs a proof that the owner still reaches the router
            MistakeError    names or values that are not there; the words lead to those that are
        ToolError           a tool failed; becomes a tool result for the model
        ProviderError       the model's side failed
            AuthenticationError
            RateLimitError
            ProviderTimeout
        PeerError           a JSON-RPC or worker peer broke the protocol
        ApplyError          a change was not made, or was made and is fully undone
        RollbackError       undoing failed: the loudest one

`code` is the stable word for programs, `exit_status` the command line's, `message` says what and where,
`hint` what to do next, `retryable` whether the same request may succeed later, `untrusted` whose words are in the
message when they are neither the caller's nor ours.
"""

if False:  # annotations only
    from oasis.shapes import Any, Callable, ErrorReply


class OasisError(Exception):
    code = "error"
    exit_status = 1
    retryable = False
    untrusted: "tuple[str, ...]" = ()

    def __init__(self, message: str, hint: str = "", *, untrusted: "tuple[str, ...]" = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if untrusted:
            self.untrusted = untrusted

    def as_dict(self) -> "ErrorReply":
        """Return the shape every front-end shows: {"code", "message", "hint"}."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    def masked(self, hide: "Callable[[Any], Any]") -> "OasisError":
        """Change all that it tells by `hide(value)`, in place, and return it."""
        for name, value in list(vars(self).items()):
            setattr(self, name, hide(value))
        self.args = (self.message,)
        return self


class UsageError(OasisError):
    code = "usage"
    exit_status = 2


class BusyError(UsageError):
    code = "busy"
    exit_status = 1
    retryable = True


class SettingsError(OasisError):
    code = "settings"
    exit_status = 3


class SchemaError(OasisError):
    code = "schema"
    exit_status = 2


class StoreError(OasisError):
    code = "store"
    exit_status = 4
    retryable = True


class UciError(OasisError):
    code = "uci"
    exit_status = 1


class UnwrittenError(UciError):
    """A change of several packages of which none was written, because somebody else wrote one of them."""


class PolicyError(OasisError):
    code = "policy"
    exit_status = 5


class UnprovedError(PolicyError):
    code = "unproved"


class MistakeError(PolicyError):
    def as_dict(self) -> "ErrorReply":
        """Return the shape of every error, and that other words mend it."""
        reply = super().as_dict()
        reply["repairable"] = True
        return reply


class ToolError(OasisError):
    code = "tool"
    exit_status = 1
    status = 0  # of the bus, where a call of it failed


class CancelledError(OasisError):
    code = "cancelled"


class ProviderError(OasisError):
    """A failure of a service; its kind is `code`, given where no class of its own stands for it."""

    code = "provider"
    exit_status = 6

    def __init__(self, message: str, hint: str = "", *, code: str = "", retryable: "bool | None" = None) -> None:
        OasisError.__init__(self, message, hint)
        if code:
            self.code = code
        if retryable is not None:
            self.retryable = retryable


class AuthenticationError(ProviderError):
    code = "authentication"


class RateLimitError(ProviderError):
    code = "rate_limit"
    retryable = True


class ProviderTimeout(ProviderError):
    code = "timeout"
    retryable = True


class PeerError(OasisError):
    code = "peer"
    exit_status = 7


class ApplyError(OasisError):
    code = "apply"
    exit_status = 8


class RollbackError(OasisError):
    code = "rollback"
    exit_status = 9
