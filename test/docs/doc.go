// Package docs keeps the pages true: its tests run every command that README,
// docs and examples show, against the real program, and compare what it prints
// with what they say it prints.
//
// A page's fenced blocks are:
//
//	sh      run, in order, in one shell per page with a home of its own; "sh
//	        systemd" needs a user's systemd as well
//	cron    each line's command is run as cron would, with the slot free and held
//	text    just after an sh block: what it prints; … stands for anything in a
//	        line, a line of … alone for any lines. Elsewhere: not looked at
//	toml    a configuration that must be accepted
//	ini     the whole of a file below packaging
//	go      the name of an example in the root package's tests
//
// A page may start a daemon in the background: it has an address of its own, which
// stands in the commands for 127.0.0.1:7180, and is ended after the page. At
// 127.0.0.1:3000 it finds a Forgejo, with a token for it in FORGEJO_TOKEN: see
// startForge.
//
// Anything else is an error, so that nothing goes unlooked at by mistake.
package docs
