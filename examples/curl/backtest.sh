#!/bin/sh
# A backtest that ran elsewhere: its log, its result and its status, connected by an id.
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

id="${1:-curl-$(date +%s)}"
push /v1/backtest/log "{\"backtest_id\": \"$id\", \"line\": \"three days of it\", \"type\": \"stdout\"}"
push /v1/backtest/result "{
  \"backtest_id\": \"$id\",
  \"symbols\": [\"BTC-USD\"],
  \"quote_asset\": \"USD\",
  \"start_time\": 1700000000,
  \"stop_time\": 1700259200,
  \"account_values\": [
    {\"time\": 1700000000, \"value\": 10000},
    {\"time\": 1700086400, \"value\": 10100},
    {\"time\": 1700172800, \"value\": 9900},
    {\"time\": 1700259200, \"value\": 10500}
  ],
  \"trades\": [
    {\"id\": \"1\", \"symbol\": \"BTC-USD\", \"side\": \"buy\", \"size\": 0.25, \"price\": 40000, \"time\": 1700000000},
    {\"id\": \"2\", \"symbol\": \"BTC-USD\", \"side\": \"sell\", \"size\": 0.25, \"price\": 42000, \"time\": 1700259200}
  ],
  \"metrics\": {\"hit_rate\": {\"value\": 1, \"display_name\": \"Hit rate\", \"type\": \"percent\"}}
}"
push /v1/backtest/status "{\"backtest_id\": \"$id\", \"successful\": true, \"status_summary\": \"Completed\", \"time_elapsed\": 1.5, \"description\": \"From a shell\"}"
