# Every target works on a fresh machine: it creates .venv, and as root installs the Debian packages it needs.
.DEFAULT_GOAL := help
.PHONY: help setup run test slow quick lint style bench docs dist lock web types pictures references

python := .venv/bin/python

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

setup:  ## prepare .venv with everything
	@scripts/setup dev

run:  ## set up and start the product with demo data
	@scripts/setup run
	@exec .venv/bin/tapeline up --demo

test: setup style  ## set up, check everything and run all tests except the slow ones
	@scripts/test

slow: setup  ## the few tests that take minutes each, and property tests with many more examples
	@$(python) -m pytest -m "slow or hypothesis or repeated" --thorough

quick: setup  ## test the rules and the store in under 90 seconds, on SQLite only
	@scripts/test quick

lint: style  ## check format and types
	@.venv/bin/mypy
	@$(python) scripts/web.py npm run check --silent
	@$(python) scripts/web.py npm run lint --silent

style: setup  # what is checked in a second
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

bench: setup  ## measure the claims in docs/measurements.md
	@for one in startup ingest results history stream views pages pnl environments deploy fleet backtests output client demo abuse; do echo "== $$one"; $(python) -m bench.$$one || exit 1; done

web: setup  ## serve the pages with hot reload, next to a running server
	@$(python) scripts/web.py npm run dev

types: setup  ## generate the types of the pages from the OpenAPI document
	@$(python) scripts/web.py types

references: setup  ## take new reference pictures of the pages, after a change of how they look
	@$(python) -m pytest -q tests/e2e/test_pictures.py --new-pictures

docs: setup  ## generate the parts of docs/ that come from the code, and build its pages
	@$(python) -m tests.documents
	@$(python) scripts/docs.py build

pictures: setup  ## make docs/pictures again, from a demo of its own; takes some minutes
	@$(python) scripts/pictures.py

dist: setup  ## build wheels and sdists of server and client into dist/
	@scripts/dist

lock: setup  ## pin the requirements again
	@scripts/lock
