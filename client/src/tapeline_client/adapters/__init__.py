"""Results and orders of packages traders use already, in the form Tapeline takes.

    from tapeline_client.adapters import backtesting, bt, ccxt, pandas

Each is imported by itself and imports nothing but the standard library: it works on the objects of
a package that is there because you made them with it.
"""
