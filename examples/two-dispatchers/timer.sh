#!/bin/sh
# A dispatcher that looks at the open issues now and then: timer.sh REF DIR
# It knows nothing of any other dispatcher. If the slot is held it stays silent:
# it will look again anyway.
set -eu
ref=$1 dir=$2 here=$(cd "$(dirname "$0")" && pwd)

while [ ! -e "$dir/end" ]; do
	if [ -e "$dir/open" ]; then
		oneslot run --busy-exit 0 "$ref" -- sh "$here/worker.sh" timer "$dir"
	fi
	sleep 0.05
done
