#!/bin/sh
set -eu; secret() { curl -fsS --noproxy '*' --max-time 10 "${VAULT_URL:-http://127.0.0.1:8087}/object/password/$1" | jq -ner 'input | select(.success) | .data.data | strings | select(. != "")' || { echo "the vault gives no secret for $1: is it unlocked?" >&2; exit 1; }; }
BRIDGE_TOKEN=$(secret "$BRIDGE_TOKEN_ITEM"); WEBHOOK_SECRET=${WEBHOOK_SECRET_ITEM:+$(secret "$WEBHOOK_SECRET_ITEM")}
export BRIDGE_TOKEN WEBHOOK_SECRET; exec "$@"
