#!/usr/bin/env bash
# A newcomer's steps, by a machine: a bare Debian 12 with git and ca-certificates and nothing
# else, a clone of this repository's HEAD, and the two commands of the README. Needs root.
#
#   cmake/fresh.sh REPOSITORY [FOLDER [ROUND…]]
#
# Rounds: `full`; `no-platform`, where the OpenCL loader finds no driver; `no-opencl`, built without
# that backend. FOLDER is kept and used again if it is given; it holds a few gigabytes.
set -euo pipefail
repo=$1
folder=${2:-}
rounds=("${@:3}")
[ ${#rounds[@]} -gt 0 ] || rounds=(full no-platform no-opencl)
say() { echo "fresh: $*"; }
. "$(dirname "${BASH_SOURCE[0]}")"/bare-debian.sh

if [ -z "$folder" ]; then
  folder=$(mktemp -d /var/tmp/trine-fresh-XXXXXX)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  "$0" "$repo" "$folder" "${rounds[@]}"
  exit
fi
in_own_namespace "$0" "$repo" "$folder" "${rounds[@]}"
bare_debian "$folder"
say "packages in the bare system: $(chroot "$folder" dpkg-query -f . -W | wc -c)"

# A clone, so that what is not committed is not there.
rm -rf "$folder"/root/trine "$folder"/root/repository
git -c safe.directory='*' clone --quiet --bare "$repo" "$folder"/root/repository
inside() {
  chroot "$folder" env -i HOME=/root USER=root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}
inside git clone --quiet /root/repository /root/trine
say "commit $(inside git -C /root/trine log -1 --format='%h %s')"

walk() {
  local begin=$SECONDS
  say "round $round: ./dev compare"
  inside "$@" bash -c 'cd /root/trine && ./dev compare'
  say "round $round: ./dev compare took $((SECONDS - begin)) s; ./dev test"
  begin=$SECONDS
  inside "$@" bash -c 'cd /root/trine && ./dev test'
  say "round $round: ./dev test took $((SECONDS - begin)) s"
}
mkdir -p "$folder"/root/no-drivers
for round in "${rounds[@]}"; do
  case $round in
    full) walk env ;;
    no-platform) walk env OCL_ICD_VENDORS=/root/no-drivers ;;
    no-opencl) walk env TRINE_OPENCL=OFF ;;
    *) say "no round '$round'"; exit 2 ;;
  esac
done
say "passed: ${rounds[*]}"
