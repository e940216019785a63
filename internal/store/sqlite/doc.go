// Package sqlite keeps claims, runs, decisions and holds in one SQLite file
// that the processes of one host share.
//
// Every step is one immediate transaction, on disk before it is answered. One
// goroutine per process writes: it takes what is waiting, takes the writers' turn
// among processes (an flock on the file beside the database, because SQLite's own
// waiting polls and starves), commits once for all of it, and wakes those in line.
// Another one syncs the -wal and answers, while the next steps are written. A caller
// that nobody else writes beside does all of this itself. Readers use a connection of
// their own.
//
// Nothing here opens the database or its -shm except through the driver: closing such
// a descriptor would drop SQLite's POSIX locks. It has none on the -wal.
package sqlite
