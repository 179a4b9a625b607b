class Boat:
    """Something that floats."""

    def __init__(self, name: str) -> None:
        self.name = name

    def greet(self) -> str:
        return "I am " + self.name


def launch(name: str) -> Boat:
    return Boat(name)
