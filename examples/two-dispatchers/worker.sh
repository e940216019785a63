#!/bin/sh
# The costly work, as any dispatcher would start it: worker.sh WHO DIR
# DIR stands for the forge: while DIR/open is there, the issue is open.
set -eu
who=$1 dir=$2

# Only here, under the claim, is it certain that the issue is still open.
if [ ! -e "$dir/open" ]; then
	echo "$who late" >>"$dir/journal"
	exit 0
fi

# A second worker at the same time would find this folder in its way.
mkdir "$dir/working" 2>/dev/null || echo "$who overlap" >>"$dir/journal"
echo "$who work" >>"$dir/journal"
sleep 0.5
rm -f "$dir/open" # the work is done, the issue is closed
rmdir "$dir/working" 2>/dev/null || true
