#!/bin/sh
# A model reports that it runs, its symbols and exchanges, and that it has ended.
# TAPELINE_URL, TAPELINE_MODEL_ID, TAPELINE_API_KEY and TAPELINE_API_PASS name the server and the model.
set -eu

push() {
  curl --silent --show-error --fail-with-body \
    --header "model_id: $TAPELINE_MODEL_ID" \
    --header "api_key: $TAPELINE_API_KEY" \
    --header "api_pass: $TAPELINE_API_PASS" \
    --header "Content-Type: application/json" \
    --data "$2" "$TAPELINE_URL$1"
  echo
}

push /v1/model/lifecycle '{"message": "Warming up", "running": true}'
push /v1/model/used-symbol '{"symbol": "BTC-USD"}'
push /v1/model/used-exchange '{"exchange": "kraken"}'
push /v1/live/event '{"type": "rebalance", "args": {"target": 0.6}, "response": {"orders": 2}}'
push /v1/model/lifecycle "{\"message\": \"Done for today\", \"running\": false, \"end_at\": $(date +%s)}"
