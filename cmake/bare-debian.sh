# Sourced by scripts that need a bare Debian 12 (debootstrap and root).
#
#   bare_debian FOLDER     makes it, or takes the one that is there: git, ca-certificates, the archives
#                          that apt uses here, and the system's /proc, /dev and /sys
#
# The caller runs in a mount namespace of its own (in_own_namespace), so the mounts vanish with it.

in_own_namespace() {
  [ "$(id -u)" -eq 0 ] || { echo "needs root, for debootstrap and chroot" >&2; exit 1; }
  if [ "${TRINE_OWN_NAMESPACE:-}" != 1 ]; then
    TRINE_OWN_NAMESPACE=1 exec unshare --mount --propagation private "$@"
  fi
}

bare_debian() {
  local folder=$1 mirror
  if ! command -v debootstrap > /dev/null; then
    echo "installing the Debian package debootstrap"
    apt-get -qq update && apt-get -qq -y install debootstrap > /dev/null
  fi
  if [ ! -x "$folder"/usr/bin/git ]; then
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' \
      | awk '$2 == "bookworm" { print $1; exit }')
    echo "debootstrap from the mirror that apt uses here"
    mkdir -p "$folder"
    debootstrap --variant=minbase --include=git,ca-certificates bookworm "$folder" "$mirror" \
      > "$folder".log 2>&1 || { tail -20 "$folder".log; exit 1; }
    rm -f "$folder".log
    apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' \
      'Created-By: Packages' | sort -u > "$folder"/etc/apt/sources.list
  fi
  cp /etc/resolv.conf /etc/hosts "$folder"/etc/
  mount -t proc proc "$folder"/proc
  mount --rbind /dev "$folder"/dev
  mount --rbind /sys "$folder"/sys
}
