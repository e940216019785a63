#!/bin/sh
# Two dispatchers that know nothing of each other race for one issue.
#
#   race.sh [ROUNDS]      (default 5)
#
# In each round the issue is opened, an event for it is sent, and the timer sees
# it too. Exactly one of them may do the work. Ends 1 if that was not so.
# Uses $ONESLOT if it is set, else builds oneslot from this checkout.
set -eu
rounds=${1:-5}
ref='octo-org/octo-repo#12'
here=$(cd "$(dirname "$0")" && pwd)

dir=$(mktemp -d)
timer='' events=''
cleanup() {
	trap - EXIT INT TERM
	: >"$dir/end"
	exec 9>&- # no more events
	# The loops end by themselves; this is for a race that was broken off.
	[ -z "$timer" ] || kill "$timer" 2>/dev/null || true
	[ -z "$events" ] || kill "$events" 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir "$dir/bin"
if [ -n "${ONESLOT:-}" ]; then
	ln -s "$ONESLOT" "$dir/bin/oneslot"
else
	echo "building oneslot ..."
	(cd "$here/../.." && go build -o "$dir/bin/oneslot" ./cmd/oneslot)
fi
PATH=$dir/bin:$PATH
ONESLOT_STORE=sqlite:$dir/state/oneslot.db # a store of this race alone
export PATH ONESLOT_STORE

count() { grep -c "^$1\$" "$dir/journal" || true; }
fail() {
	echo "$1"
	cat "$dir/journal"
	exit 1
}

mkfifo "$dir/pipe"
: >"$dir/journal"
sh "$here/events.sh" "$ref" "$dir" <"$dir/pipe" &
events=$!
exec 9>"$dir/pipe"
sh "$here/timer.sh" "$ref" "$dir" 9>&- &
timer=$!

worked=0 late=0
round=1
while [ "$round" -le "$rounds" ]; do
	: >"$dir/journal"
	: >"$dir/open"
	echo "$round" >&9
	tries=0
	while [ -e "$dir/open" ] || [ "$(count 'events handled')" -eq 0 ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "round $round: nobody did the work within a minute"
		sleep 0.1
	done
	n=$(count '.* work')
	[ "$n" -eq 1 ] || fail "round $round: $n workers for one issue"
	[ "$(count '.* overlap')" -eq 0 ] || fail "round $round: two workers at the same time"
	who=$(sed -n 's/ work$//p' "$dir/journal")
	echo "round $round: $who did the work; events was refused $(count 'events refused') times"
	worked=$((worked + n)) late=$((late + $(count '.* late')))
	round=$((round + 1))
done
echo "$rounds rounds, 2 dispatchers, $worked workers, never two at once ($late came late and found the issue closed)"
