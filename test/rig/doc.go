// Package rig starts the real services that tests of other packages run against:
// a systemd user manager, a Docker engine and a Podman service, each with folders
// and sockets of its own, and each ended by the process that was started.
//
// Where a service cannot be had its tests are skipped, with one clear line;
// ONESLOT_NO_SKIP=1 makes such a skip a failure.
package rig
