#!/usr/bin/env bash
# The agent for the protocol's test suite, at the root of a sidecar of its own on 127.0.0.1:$PORT.
#
#   a2a-tck-agent.sh SIDECAR FOLDER-OF-SERVICES [further flags of the sidecar]
#
# Its data is forgotten when it ends. The suite uses one message id for many messages, so that
# nothing is deduplicated, and its webhooks are on this machine.
set -euo pipefail

holdfast=$1
services=$2
shift 2
port=${PORT:-14310}
data=$(mktemp -d "${TMPDIR:-/tmp}/a2a-tck.XXXXXX")
sidecar=
trap '[ -z "$sidecar" ] || { kill "$sidecar" 2>/dev/null || true; wait "$sidecar" || true; }; rm -rf "$data"' EXIT
trap 'exit 0' INT TERM

# The service gets a free port of its own.
env -u PORT "$holdfast" run --ingress "127.0.0.1:$port" --admin 127.0.0.1:0 --data-dir "$data" \
  --set "a2a.root='tck'" --set "a2a.agents.tck.idempotency='off'" \
  --set "a2a.push.private_networks=['127.0.0.0/8']" --set a2a.push.allow_http=true \
  "$@" -- "$services/a2a_tck" &
sidecar=$!
wait "$sidecar"
