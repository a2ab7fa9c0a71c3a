#!/usr/bin/env bash
# Runs the official conformance suite of MCP, and the refund services on other SDKs, against the
# real sidecar: test-mcp.sh HOLDFAST MCP_TOOLS REFUND FOLDER. What it needs from npm and PyPI goes
# into FOLDER. Where that cannot be had it says so and tests nothing, unless STRICT=1.
set -euo pipefail
holdfast=$1 tools=$2 refund=$3 folder=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
node_version=22.23.3 suite_version=0.2.0-alpha.12

skip() {
  echo "test-mcp: NOTHING WAS TESTED: $*" >&2
  if [ "${STRICT:-0}" = 1 ]; then exit 1; else exit 0; fi
}

# npm brings the Node that the suite needs; the one of the machine only runs npm.
if ! command -v npm >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "test-mcp: installing nodejs and npm (apt-get)"
  apt-get install -y --no-install-recommends nodejs npm >/dev/null 2>&1 || true
fi
command -v npm >/dev/null || skip "npm is not on the PATH; install Node.js"
mkdir -p "$folder/suite"
if [ ! -e "$folder/suite/.$suite_version" ]; then
  echo "test-mcp: installing Node $node_version and the conformance suite $suite_version (npm)"
  (cd "$folder/suite" && echo '{"private":true}' >package.json &&
    timeout 600 npm install --silent --no-audit --no-fund "node@$node_version" \
      "@modelcontextprotocol/conformance@$suite_version") || skip "npm cannot install the suite"
  touch "$folder/suite/.$suite_version"
fi
node="$folder/suite/node_modules/node/bin/node"
suite="$folder/suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"

started=()
work=$(mktemp -d)
finish() {
  for id in "${started[@]}"; do kill -9 "$id" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

free_ports() { # N ports that were free a moment ago
  "$node" -e 'const net=require("net");const n=+process.argv[1];const s=[];let c=0;
    for(let i=0;i<n;i++){const v=net.createServer().listen(0,"127.0.0.1",()=>{if(++c===n){
    console.log(s.map(x=>x.address().port).join(" "));s.forEach(x=>x.close())}});s.push(v)}' "$1"
}
until_up() { # URL TEXT
  for _ in $(seq 200); do
    if curl -fsS -m 2 "$1" 2>/dev/null | grep -q "$2"; then return; fi
    sleep 0.1
  done
  echo "test-mcp: $1 does not show $2" >&2
  tail -20 "$work"/*.log >&2
  exit 1
}

read -r ingress admin tools_port refund_port ts_port py_port <<<"$(free_ports 6)"
url=http://127.0.0.1:$ingress
PORT=$tools_port ADMIN_URL=http://127.0.0.1:$admin "$tools" >"$work/tools.log" 2>&1 & started+=($!)
PORT=$refund_port "$refund" >"$work/refund.log" 2>&1 & started+=($!)

sidecar() { # SERVICE-PORT... : a sidecar with an empty data directory
  local flags=() port
  for port in "$@"; do flags+=(--service "http://127.0.0.1:$port"); done
  rm -rf "$work/data"
  "$holdfast" serve --data-dir "$work/data" --ingress "127.0.0.1:$ingress" --admin "127.0.0.1:$admin" \
    "${flags[@]}" >"$work/sidecar.log" 2>&1 &
  sidecar_id=$!
  started+=("$sidecar_id")
  until_up "$url/restate/health" "$wanted"
}
stop_sidecar() { kill "$sidecar_id"; wait "$sidecar_id" 2>/dev/null || true; }

failed=0
scenario() { # NAME [OPTION...]
  local said
  if said=$("$node" "$suite" server --url "$url/mcp" --scenario "$@" 2>&1); then
    echo "ok   $*  $(grep -o 'Passed: .*' <<<"$said" || true)"
  else
    failed=$((failed + 1))
    echo "FAIL $*"
    grep -E 'FAILURE|Error:' <<<"$said" | cut -c1-300 || true
  fi
}

wanted=Tools sidecar "$tools_port" "$refund_port"
until_up "$url/restate/health" Refund
for name in tasks-lifecycle tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal tasks-mrtr-input \
  tasks-request-headers tasks-dispatch-and-envelope tasks-required-task-error tasks-mrtr-composition \
  tools-list dns-rebinding-protection server-sse-multiple-streams sep-2164-resource-not-found http-header-validation \
  input-required-result-missing-input-response input-required-result-unsupported-methods \
  input-required-result-ignore-extra-params input-required-result-validate-input server-stateless caching; do
  scenario "$name"
done
for name in server-initialize ping tools-list; do scenario "$name" --spec-version 2025-11-25; done

refund_story() { # LABEL
  if "$node" "$here/tests/services/refund.mjs" "$url/mcp"; then echo "ok   refund on $1"; else
    failed=$((failed + 1))
    echo "FAIL refund on $1"
  fi
}
refund_story "our Rust SDK"
stop_sidecar

cp -r "$here/tests/services/refund-ts" "$folder/"
if (cd "$folder/refund-ts" && timeout 300 npm install --silent --no-audit --no-fund); then
  (cd "$folder/refund-ts" && PORT=$ts_port exec "$node" main.mjs >"$work/ts.log" 2>&1) & started+=($!)
  wanted=Refund sidecar "$ts_port"
  refund_story "the TypeScript SDK"
  stop_sidecar
else
  echo "skip refund on the TypeScript SDK: npm cannot install it"
fi

python="$folder/refund-py/bin/python"
if { [ -x "$python" ] || python3 -m venv "$folder/refund-py"; } >/dev/null 2>&1 &&
  timeout 300 "$python" -m pip install -q -r "$here/tests/services/refund-py/requirements.txt" >/dev/null 2>&1; then
  PORT=$py_port "$python" "$here/tests/services/refund-py/main.py" >"$work/py.log" 2>&1 & started+=($!)
  wanted=Refund sidecar "$py_port"
  refund_story "the Python SDK"
  stop_sidecar
else
  echo "skip refund on the Python SDK: python3 or pip cannot install it"
fi

if [ "$failed" -gt 0 ]; then
  echo "test-mcp: $failed failed"
  exit 1
fi
echo "test-mcp: all passed"
