#!/bin/sh
# Writes the files of the container image: rootfs.sh BINARY LICENSES FOLDER
# LICENSES is what `release.sh licenses` prints.
# FOLDER/root belongs to root, and FOLDER/postern to the user that the server runs as.
set -eu
binary=$1
licenses=$2
root=$3/root
authorities=${CA_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
[ -s "$authorities" ] || { echo "rootfs.sh: $authorities is missing: install ca-certificates, or set CA_CERTIFICATES" >&2; exit 1; }

mkdir -p "$root/etc/ssl/certs" "$root/etc/postern"
install -m 0755 "$binary" "$root/postern"
install -m 0644 "$licenses" "$root/THIRD_PARTY_LICENSES.txt"
install -m 0644 "$authorities" "$root/etc/ssl/certs/ca-certificates.crt"
from=$(dirname "$0")/image/etc
install -m 0644 "$from/passwd" "$from/group" "$root/etc/"
install -m 0644 "$from/postern/postern.yaml" "$root/etc/postern/"
chmod 0755 "$root" "$root/etc" "$root/etc/ssl" "$root/etc/ssl/certs" "$root/etc/postern"
install -d -m 0755 "$3/postern"
install -d -m 0700 "$3/postern/data"
