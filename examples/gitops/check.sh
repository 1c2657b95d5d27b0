#!/bin/sh
# Checks this folder as CI does: proves the flows, runs their scenarios, and deploys everything to an
# empty server that ends with the script.
set -eu
cd "$(dirname "$0")"
postern=${POSTERN:-postern}
port=${PORT:-18090}
"$postern" flow check flows
"$postern" flow test flows

dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$dir"' EXIT
# The settings of another server, such as its database, do not apply to this one.
unset $(env | sed -n 's/^\(POSTERN_[A-Z_]*\)=.*/\1/p')
export POSTERN_DATA_DIR="$dir/data" POSTERN_SERVER_HTTP_ONLY=true POSTERN_SERVER_PORT="$port"
"$postern" serve >"$dir/log" 2>&1 &
pid=$!
until "$postern" health >/dev/null 2>&1; do
  kill -0 "$pid" || { cat "$dir/log"; exit 2; }
  sleep 0.2
done
ADMIN_TOKEN=$("$postern" token)
SHOP_SECRET=$(head -c 24 /dev/urandom | base64)
export ADMIN_TOKEN SHOP_SECRET
./deploy.sh "http://localhost:$port"
"$postern" flow push --plan --server "http://localhost:$port" flows # fails if something is left to deploy
