#!/bin/bash
# Installs Debian packages where that is possible, else says what to do. Usage: scripts/install.sh package...
set -euo pipefail
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "please install: $* (only root on Debian or Ubuntu gets them by itself)" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update </dev/null
apt-get -qq install -y --no-install-recommends "$@" </dev/null >/dev/null
