// Package rundir is where a run leaves its traces on its host: one folder per
// run, and a registry of the runs whose process tree is not known to be gone.
//
//	<state>/runs/<run>/       0700, its files 0600
//	    identity.json         which processes it is made of
//	    lock                  held by whoever may fork for it, see Dir.Lock
//	    log                   what the worker printed
//	    events.json           what the worker is told
//	    result.json           what the worker says, not to be trusted
//	    outcome.json          how it ended; on disk before anything is settled
//	    sock                  check, renew and release for the worker
//	<state>/live/<slug>/<run> the registry entry
//
// Identity, outcome and result are read as a stranger's: bounded, typed, and
// never fatal.
package rundir
