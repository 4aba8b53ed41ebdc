"""Converts results and orders of packages that traders use into Tapeline's form.

    from tapeline_client.adapters import backtesting, bt, ccxt, pandas

Import the one you need. Each uses only the standard library and works on objects that you made
with the package.
"""
