#!/bin/sh
# A screener's result: one flat object per symbol, each with the same keys.
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

push /v1/live/screener-result '{"result": {
  "AAPL": {"rsi": 28.5, "buy": true},
  "MSFT": {"rsi": 55.0, "buy": false}
}}'
