#!/bin/bash
# Runs an image of buildah's storage as an engine would with --read-only --network host: its root file system read-only, without the host's
# files, as the user, with the command and the variables that the image names. This process's own variables come on top, as -e does.
# The process of the image takes the place of this one, so that signals reach it. Needs root.
#
#   HOST=127.0.0.1 PORT=8081 … deploy/run-image.sh localhost/lead-scoring-scoring
#   deploy/run-image.sh localhost/lead-scoring-gateway node services/gateway/kafka-source.js
set -euo pipefail
image=$1
shift
config() { buildah inspect --type image --format "$1" "$image"; }

# One container of each image serves all its processes: nothing in it can change. A newer image of the same name has one of its own;
# `buildah rm --all` removes those of older ones.
id=$(buildah inspect --type image --format '{{.FromImageID}}' "$image")
container=run-${id:0:12}
buildah inspect "$container" > /dev/null 2>&1 || buildah from --pull-never --name "$container" "$image" > /dev/null
root=$(buildah mount "$container")
user=$(config '{{.OCIv1.Config.User}}')
directory=$(config '{{.OCIv1.Config.WorkingDir}}')
mapfile -t variables < <(config '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' | sed '/^$/d')
mapfile -t own < <(env | grep -E '^[A-Z][A-Z0-9_]*=' | grep -vE '^(PATH|HOME|PWD|OLDPWD|SHLVL|NODE_COMPILE_CACHE|NODE_ENV|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|USER)=')
if [ $# -eq 0 ]; then mapfile -t command < <(config '{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' | sed '/^$/d'); else command=("$@"); fi

# The mounts belong to the process and end with it.
exec unshare --mount -- bash -euc '
  root=$1 user=$2
  shift 2
  mount --bind "$root" "$root"
  mount --bind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  mount -o remount,bind,ro "$root"
  exec chroot --userspec="$user" "$root" "$@"
' run "$root" "$user" /usr/bin/env -i -C "$directory" "${variables[@]}" "${own[@]}" "${command[@]}"
