#!/bin/sh
# Hold a slot of a running `oneslot serve` with nothing but curl, for as long as a
# command reads, plans and acts:
#
#   with-slot.sh octo-org/octo-repo#12 ./read-plan-act.sh
#
# It asks the claim store only: gates and reservation comments are asked by `oneslot
# run`, `claim` and `peek`, not here.
#
# ONESLOT_API is the server (http://127.0.0.1:7180), ONESLOT_API_TOKEN its token if
# it wants one, SLOT_TTL how long the slot stays ours without a word (60s).
#
# Exit codes: the command's own; 75 somebody else has the slot; 69 it could not be
# found out, and nothing was started; 81 the slot was lost, and the command ended.
set -u
ref=$1
shift
api=${ONESLOT_API:-http://127.0.0.1:7180}/api/v1
ttl=${SLOT_TTL:-60s}
answer=$(mktemp) || exit 69
trap 'rm -f "$answer" "$answer.renew"' EXIT

# The token makes the claim ours. We choose it, so that the same request, sent again
# because the answer was lost, is the same claim.
token=$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')

# ask FILE PATH JSON puts the answer into FILE and prints the HTTP status: 000 if
# there was no answer.
ask() {
	set -- "$1" "$2" "$3" ${ONESLOT_API_TOKEN:+-H} ${ONESLOT_API_TOKEN:+"Authorization: Bearer $ONESLOT_API_TOKEN"}
	out=$1 path=$2 body=$3
	shift 3
	printf '%s' "$body" | curl -sS --max-time 10 --retry 3 --retry-connrefused -o "$out" -w '%{http_code}' \
		-H 'Content-Type: application/json' "$@" --data-binary @- "$api$path"
}

status=$(ask "$answer" /claims "{\"ref\":\"$ref\",\"token\":\"$token\",\"ttl\":\"$ttl\"}")
case $status in
200) ;;
409) cat "$answer" >&2; exit 75 ;;
*) echo "no answer to rely on: $status" >&2; cat "$answer" >&2; exit 69 ;; # never read as free
esac
claim=$(sed -n 's/^{"claim":"\([a-z0-9.-]*\)".*/\1/p' "$answer")

# The command may ask, before it acts, whether the slot is still ours:
#   curl -sS -H 'Content-Type: application/json' -d "{\"token\":\"$SLOT_TOKEN\"}" "$SLOT_API/claims/$SLOT_CLAIM/check"
SLOT_API=$api SLOT_CLAIM=$claim SLOT_TOKEN=$token "$@" &
worker=$!

# Renew three times in each time to live. Lost means lost; anything else is asked
# again, and the command is ended before the slot can be somebody else's.
seconds=${ttl%s}
(
	left=$seconds
	while sleep $((seconds / 3)); do
		case $(ask "$answer.renew" "/claims/$claim/renew" "{\"token\":\"$token\"}") in
		200) left=$seconds ;;
		410) left=0 ;;
		*) left=$((left - seconds / 3)) ;;
		esac
		if [ "$left" -le $((seconds / 3)) ]; then
			kill -KILL "$worker" # all of it, if it has children: see `oneslot run`
			exit 81
		fi
	done
) &
renewer=$!

wait "$worker"
code=$?
kill "$renewer" 2>/dev/null
wait "$renewer" 2>/dev/null
[ $? -eq 81 ] && code=81

outcome=done
[ "$code" -eq 0 ] || outcome=failed
status=$(ask "$answer" "/claims/$claim/release" "{\"token\":\"$token\",\"outcome\":{\"result\":\"$outcome\",\"exit\":$code}}")
[ "$status" = 200 ] || echo "not given back ($status): it runs out by itself" >&2
exit "$code"
