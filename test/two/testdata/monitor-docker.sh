#!/bin/sh
# The monitor again, with a container for each pull request instead of a unit.
#
#   monitor-docker.sh PERIOD REFUSED COMMAND... -- NUMBER...
#
# COMMAND are arguments for docker run, from the image on.
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
		name=bob-pm-fast-slot-codertocat-hello-world-$number
		[ -z "$(docker ps --all --quiet --filter "name=^/$name\$")" ] || continue
		# shellcheck disable=SC2046,SC2086 # lists of words
		docker run --rm --detach --network none --name "$name" $(echo $command | sed "s/NUMBER/$number/") >/dev/null 2>&1 ||
			echo "$number" >>"$refused"
	done
done
