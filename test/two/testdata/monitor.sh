#!/bin/sh
# A monitor by timer, as people write them. For each pull request it looks whether
# its own unit is at work, and starts one if not. It knows nothing of oneslot.
#
#   monitor.sh PERIOD REFUSED COMMAND... -- NUMBER...
#
# REFUSED gets a line for each start that the manager refused.
period=$1 refused=$2
shift 2
command=''
while [ "$1" != -- ]; do
	command="$command $1"
	shift
done
shift
trap 'exit 0' TERM
while sleep "$period"; do
	for number; do
		unit=bob-pm-fast-slot-codertocat-hello-world-$number.service
		case $(systemctl --user is-active "$unit") in
		active | activating | deactivating | reloading) continue ;;
		esac
		# shellcheck disable=SC2046,SC2086 # lists of words
		systemd-run --user --quiet --unit="$unit" $(echo $command | sed "s/NUMBER/$number/") 2>/dev/null ||
			echo "$number" >>"$refused"
	done
done
