from fleet import Boat, launch

first: Boat = launch("Möwe")
second = Boat("Aurora")
print(first.greet(), second.greet())
