// Package config reads what a person configured and says where each setting
// came from.
//
// One file at most is read: the one named by --config, else by ONESLOT_CONFIG,
// else $XDG_CONFIG_HOME/oneslot/oneslot.toml (XDG_CONFIG_HOME is ~/.config if
// unset), else /etc/oneslot/oneslot.toml. A file that was named must be there;
// the others may be missing, but one that is there and cannot be read is an
// error, for it would have named another store. A setting's flag beats its
// environment variable, which beats the file. An environment variable that is
// empty, and an XDG folder or HOME that is not absolute, count as unset.
//
// The file is TOML, read strictly: every unknown key, wrong type, bad value and
// key that this version does not support is reported at once, each with its
// line and column (in bytes, from 1). What is not understood is never ignored. Who
// needs only some of it may go on if that is certain: see LoadFor.
//
// Secrets are no part of it: only where they are, to be read when they are needed.
//
// Live keeps the last good configuration of a process that runs for long.
//
// A new setting is one row in the schema, one field in Config and one line in
// Entries.
package config
