# Sourced: an apt-get that lists more kinds of packages of the archives that apt already trusts and uses
# here. apt's own configuration is read (both its list formats), never changed, and no host is named
# by us.
#
#   private_apt FOLDER TYPE [OPTION…]    TYPE: deb-src, or "deb [arch=arm64]"; makes apt_get FOLDER's

private_apt() {
  local folder=$1 type=$2
  mkdir -p "$folder"/lists/partial "$folder"/parts "$folder"/archives/partial
  apt-get indextargets --format "$type "'$(REPO_URI) $(CODENAME) $(COMPONENT)' \
    'Created-By: Packages' | sort -u > "$folder"/parts/source.list
  private_apt_options=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder"/parts
                       -o Dir::State::Lists="$folder"/lists -o Dir::Cache="$folder"
                       -o APT::Sandbox::User= "${@:3}")
  apt_get -qq update
}
apt_get() { apt-get "${private_apt_options[@]}" "$@"; }
