#!/bin/sh
# Builds the container image from a static binary, without a base image: image.sh BINARY LICENSES [TARGET]
# TARGET is where buildah stores the image, for example oci-archive:postern.tar. The last stage of
# the Dockerfile defines the image, so both ways to build it give the same one.
set -eu
binary=$1
licenses=$2
target=${3:-postern}
here=$(cd "$(dirname "$0")" && pwd)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
trap 'exit 1' INT TERM

"$here/rootfs.sh" "$binary" "$licenses" "$context/image"
sed -n '/^FROM scratch/,$p' "$here/Dockerfile" | sed 's/ --from=build//' > "$context/Dockerfile"
# --timestamp 0: the same files give the same layer. The configuration contains a name of buildah.
buildah build --isolation chroot --format docker --timestamp 0 --layers=false -t "$target" "$context"
