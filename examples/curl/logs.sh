#!/bin/sh
# Log lines: one at a time, and many in one request (one JSON object per line, all or nothing).
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

push /v1/live/log '{"line": "spread is wide", "type": "warning"}'

now=$(date +%s)
for number in 1 2 3; do
  printf '{"path": "/v1/live/log", "time": %s, "body": {"line": "tick %s", "type": "stdout"}}\n' "$now" "$number"
done | curl --silent --show-error --fail-with-body \
  --header "model_id: $TAPELINE_MODEL_ID" \
  --header "api_key: $TAPELINE_API_KEY" \
  --header "api_pass: $TAPELINE_API_PASS" \
  --header "Idempotency-Key: ticks-$now" \
  --header "Content-Type: application/x-ndjson" \
  --data-binary @- "$TAPELINE_URL/v1/batch"
echo
