"""A shop."""

import os
import sys
from pathlib import Path

LIMIT = 3


# Open the shop.
# Twice a day.
@cached
def open_shop(hours):
    return hours


class Shop(Base):
    """Sell things."""

    name = "shop"

    def sell(self, thing):
        """Sell one thing to whoever asks for it first."""
        return self.stock.pop(thing)

    # Bring more of it.
    @property
    def buy(self):
        """Buy another thing from whoever has one to sell."""
        return [thing for thing in self.market if thing.price < LIMIT]

    class Till:
        def count(self):
            return sum(coin.value for coin in self.coins if coin.value > 0)

        def close(self):
            return self.lock.turn() and self.light.turn_off() and self.door.shut()
