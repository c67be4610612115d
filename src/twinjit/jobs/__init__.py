"""Programs that are compiled in the background: futures, and the threads behind them."""
