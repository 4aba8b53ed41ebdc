#!/bin/sh
# Orders and their updates. Use the exchange's id: sending the same order again changes nothing.
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

push /v1/live/spot-market '{"id": "curl-1", "symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 0.5}'
push /v1/live/update-trade '{"id": "curl-1", "executionPrice": 40000, "fee": 10, "status": "filled"}'

push /v1/live/spot-limit '{"id": "curl-2", "symbol": "BTC-USD", "exchange": "kraken", "side": "sell", "size": 0.2, "price": 42000}'
push /v1/live/update-trade '{"id": "curl-2", "filled_size": 0.1, "executionPrice": 42000, "status": "partially_filled"}'
push /v1/live/update-annotation '{"id": "curl-2", "annotation": "take some profit"}'

push /v1/live/spot-stop '{"id": "curl-3", "symbol": "BTC-USD", "exchange": "kraken", "side": "sell", "size": 0.3, "price": 38000, "active": 38500}'
push /v1/live/update-trade '{"id": "curl-3", "status": "canceled"}'

push /v1/live/mark-price '{"symbol": "BTC-USD", "price": 41000}'
