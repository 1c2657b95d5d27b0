#!/bin/sh
# Brings a server to the state of this folder: ./deploy.sh https://id.example.org
#
# It changes nothing that is equal, so it can run again. ADMIN_TOKEN is a token with the permission
# system, and SHOP_SECRET the secret of the shop.
set -eu
cd "$(dirname "$0")"
postern=${POSTERN:-postern}
server=${1:?usage: deploy.sh URL}
"$postern" flow push --server "$server" -m "${REASON:-deployed}" flows
echo "Next: the applications that use the flows"
"$postern" bootstrap --base-url "$server" --dir seeds
