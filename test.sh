#!/bin/sh
# Runs every check there is: gofmt, vet, staticcheck, then all tests under the
# race detector (fuzz seeds, import law, binary size, builds without cgo, every
# command of the documentation among them).
#
#   ./test.sh [PACKAGE...]        (default ./...)
#
# On Debian, as root, it installs the Debian packages that the tests use. Where
# one is missing, the tests that need it are skipped, each with one line;
# ONESLOT_NO_SKIP=1 makes such a skip a failure.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- ${ONESLOT_TEST_PACKAGES:-./...}

# command it brings:Debian package
needs='gcc:gcc git:git bindfs:bindfs fuse-overlayfs:fuse-overlayfs setpriv:util-linux
systemd-run:systemd dbus-daemon:dbus-daemon flock:util-linux ps:procps
dockerd:docker.io podman:podman crun:crun busybox:busybox-static
sqlite3:sqlite3 curl:curl'

missing=''
for need in $needs; do
	command -v "${need%%:*}" >/dev/null 2>&1 || missing="$missing ${need#*:}"
done
if [ -n "$missing" ]; then
	if [ -f /etc/debian_version ] && [ "$(id -u)" -eq 0 ]; then
		echo "test.sh: installing$missing"
		export DEBIAN_FRONTEND=noninteractive
		# shellcheck disable=SC2086 # a list of words
		{ apt-get update && apt-get install -y --no-install-recommends libc6-dev $missing; } >/dev/null </dev/null
	else
		echo "test.sh: not installed, so some tests are skipped:$missing"
	fi
fi

race=-race
if ! command -v "$(go env CC)" >/dev/null 2>&1; then
	[ -z "${ONESLOT_NO_SKIP:-}" ] || { echo "test.sh: no C compiler for the race detector" >&2; exit 1; }
	echo "test.sh: no C compiler, so the race detector is left out"
	race=''
fi

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "test.sh: gofmt these:"; echo "$unformatted"; exit 1; }
go vet "$@"
go vet -tags oneslot_hooks "$@"
go tool staticcheck "$@"

# -count=1: tests build and run the binary, which go test's cache cannot see.
# The hooks of the crash tests are compiled in by a tag of their own.
go test -count=1 -tags oneslot_hooks ./internal/failpoint
# shellcheck disable=SC2086 # nothing or one word
exec go test $race -count=1 -timeout 30m "$@"
