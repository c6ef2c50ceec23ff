"""What is wrong with a page or a measurement, in one line."""


class Problem(RuntimeError):
    """Its text is what a user reads."""

    def __init__(self, where, what, got, expected, attempt):
        super().__init__(f"[{where}] {what}; got {got}, expected {expected}; try {attempt}")
