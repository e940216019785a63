#!/bin/sh
# A dispatcher that is woken by events, one line each: events.sh REF DIR <EVENTS
# It knows nothing of any other dispatcher. An event must not be lost: while the
# slot is held (exit 75) it is kept and tried again.
set -eu
ref=$1 dir=$2 here=$(cd "$(dirname "$0")" && pwd)

while read -r event; do
	while :; do
		code=0
		oneslot run -q "$ref" -- sh "$here/worker.sh" events "$dir" || code=$?
		[ "$code" -eq 75 ] || break
		echo "events refused" >>"$dir/journal"
		sleep 0.2
	done
	[ "$code" -eq 0 ] || echo "event $event: exit $code" >&2
	echo "events handled" >>"$dir/journal"
done
