#!/bin/sh
# Makes and verifies releases:
#
#   release.sh build VERSION FOLDER    archives of six platforms, the bill of materials, SHA256SUMS
#   release.sh sign FOLDER KEY         SHA256SUMS.sig, with a private SSH key
#   release.sh verify FOLDER SIGNERS   the signature, and the checksum of every file that is there
#   release.sh check [PLATFORM]        builds twice in different folders and compares
#   release.sh licenses                prints the licenses of the software that a release contains
#
# SIGNERS is a file of allowed signers (ssh-keygen(1)), which must come from another place than the
# release. Two builds with the same version of Go are identical, byte for byte.
set -eu
# Settings of the caller must not change the bytes.
export GOFLAGS=-trimpath CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT='' GOWORK=off
platforms="linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
largest=40000000 # bytes of a download: an archive, or an image
namespace=postern-release
identity=releases@postern
root=$(cd "$(dirname "$0")/.." && pwd)

fail() { echo "release.sh: $*" >&2; exit 1; }

usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# archive FOLDER NAME: a .tar.gz of the folder with no trace of this machine.
archive() {
  (cd "$1" && tar --sort=name --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=go-w,a+rX -cf - "$2") | gzip -9n
}

# binaries VERSION FOLDER PLATFORM...: builds NAME/postern for each platform.
binaries() (
  version=$1
  folder=$2
  shift 2
  cd "$root"
  make -s checker
  for platform; do
    os=${platform%/*}
    arch=${platform#*/}
    name=postern_${version}_${os}_${arch}
    suffix=
    [ "$os" != windows ] || suffix=.exe
    mkdir -p "$folder/$name"
    GOOS=$os GOARCH=$arch make -s binary OUT="$folder/$name/postern$suffix" VERSION="$version"
    cp LICENSE SECURITY.md "$folder/$name/"
    [ "$os" != linux ] || cp deploy/postern.service "$folder/$name/"
  done
)

licenses() (
  cd "$root"
  [ -d server/console/web/node_modules ] || (cd server/console/web && npm ci --silent >&2)
  # shellcheck disable=SC2086
  go run ./deploy/sbom -licenses -npm-lock server/console/web/package-lock.json $platforms
)

build() {
  version=$1
  mkdir -p "$2"
  folder=$(cd "$2" && pwd)
  [ -z "$(ls "$folder")" ] || fail "$folder is not empty: name a new folder"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM
  # shellcheck disable=SC2086
  binaries "$version" "$work" $platforms
  licenses > "$work/licenses"
  for name in "$work"/postern_*; do
    cp "$work/licenses" "$name/THIRD_PARTY_LICENSES.txt"
    name=$(basename "$name")
    archive "$work" "$name" > "$folder/$name.tar.gz"
  done
  (cd "$root" && go run ./deploy/sbom -version "$version" -npm-lock server/console/web/package-lock.json \
    "$work"/*/postern "$work"/*/postern.exe) > "$folder/postern_$version.cdx.json"
  (cd "$folder" && sha256sum -- * > "$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
}

sign() {
  [ -s "$1/SHA256SUMS" ] || fail "$1 has no SHA256SUMS: run release.sh build first"
  rm -f "$1/SHA256SUMS.sig"
  ssh-keygen -q -Y sign -f "$2" -n "$namespace" "$1/SHA256SUMS"
}

verify() {
  ssh-keygen -q -Y verify -f "$2" -I "$identity" -n "$namespace" -s "$1/SHA256SUMS.sig" < "$1/SHA256SUMS" ||
    fail "$1/SHA256SUMS is not signed by $identity: do not use these files"
  (cd "$1" && sha256sum --quiet --strict --ignore-missing -c SHA256SUMS) ||
    fail "a file in $1 is not the one that was released: do not use it"
}

# check PLATFORM: the second build is in a copy of the source, in another folder, and compiles every
# package again.
check() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM
  mkdir "$work/source"
  (cd "$root" && git ls-files -z | tar --null -T - -cf -) | tar -xf - -C "$work/source"
  version=v0.0.0-check
  binaries "$version" "$work/first" "$1"
  root=$work/source
  export GOCACHE="$work/cache"
  binaries "$version" "$work/second" "$1"
  for copy in first second; do
    for name in "$work/$copy"/*; do archive "$work/$copy" "$(basename "$name")" > "$work/$copy.tar.gz"; done
  done
  cmp "$work/first.tar.gz" "$work/second.tar.gz" || fail "two builds for $1 differ"
  size=$(wc -c < "$work/first.tar.gz")
  [ "$size" -le "$largest" ] || fail "the archive for $1 has $size bytes, expected at most $largest: find what was added with go tool nm -size"
  sha256sum < "$work/first.tar.gz"
}

command=${1:-}
case "$command $#" in
  "build 3" | "sign 3" | "verify 3") shift && "$command" "$@" ;;
  "licenses 1") licenses ;;
  "check 1" | "check 2") check "${2:-linux/amd64}" ;;
  *) usage ;;
esac
