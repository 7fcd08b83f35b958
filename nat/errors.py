"""The one exception that a user may see."""


class UserError(Exception):
    """A mistake that the user can mend, told in one sentence with file, key and remedy."""
