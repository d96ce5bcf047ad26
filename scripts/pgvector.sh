#!/bin/bash
# Gets pgvector 0.8 or newer for the Postgres that the tests start: does nothing where it is there, takes Debian's package where there
# is one that is new enough, and builds Debian's source of a newer release otherwise, which takes some 20 seconds.
set -euo pipefail

config=$(for initdb in "$(command -v initdb || true)" $(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -Vr); do
	[ -z "$initdb" ] || { dirname "$(readlink -f "$initdb")"; break; }
done)/pg_config
[ -x "$config" ] || { echo "install postgresql first: its pg_config is missing" >&2; exit 1; }
major=$("$config" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')

# enough VERSION: is it new enough?
enough() { [ -n "$1" ] && [ "$(printf '%s\n' 0.8 "$1" | sort -V | head -1)" = 0.8 ]; }

installed() { sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$("$config" --sharedir)/extension/vector.control" 2>/dev/null || true; }
enough "$(installed)" && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "please install pgvector 0.8 or newer for PostgreSQL $major (only root on Debian or Ubuntu gets it by itself)" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "the tests need pgvector for PostgreSQL $major"
apt-get -qq update </dev/null
packaged=$(apt-cache policy "postgresql-$major-pgvector" | sed -n 's/^ *Candidate: *//p')
if enough "${packaged#(none)}"; then
	apt-get -qq install -y --no-install-recommends "postgresql-$major-pgvector" </dev/null >/dev/null
	exit 0
fi

missing=()
command -v make >/dev/null || missing+=(make)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
[ ${#missing[@]} = 0 ] || apt-get -qq install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"

# The source comes from a release that the machine does not have: apt looks it up in lists of its own, below this folder, and checks
# its signature as ever.
mirror=$(apt-get indextargets --format '$(SITE)' | grep -v security | head -1)
fetch() {
	mkdir -p apt/lists/partial apt/cache/archives/partial
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >apt/sources.list
	local own=(-qq -o Dir::Etc::SourceList="$dir/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/apt/lists"
		-o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root)
	apt-get "${own[@]}" update && apt-get "${own[@]}" source --download-only pgvector
}
{ fetch trixie || fetch stable; } >log 2>&1 </dev/null || { cat log >&2; exit 1; }
mkdir source && tar xf pgvector_*.orig.tar.* -C source --strip-components=1

# Of the package with the server's headers only these are wanted, not the compilers that it brings along.
apt-get -qq -o APT::Sandbox::User=root download "postgresql-server-dev-$major" >log 2>&1 </dev/null || { cat log >&2; exit 1; }
dpkg-deb -x postgresql-server-dev-*.deb headers

build() {
	make -s -C source -j"$(nproc)" PG_CONFIG="$config" with_llvm=no OPTFLAGS= includedir_server="$dir/headers$("$config" --includedir-server)" "$@"
}
{ build && build install; } >log 2>&1 || { tail -30 log >&2; exit 1; }
enough "$(installed)" || { echo "the pgvector of $mirror is too old: $(installed)" >&2; exit 1; }
