// Package poll finds on a timer what needs attention at the forges: what webhooks
// tell of, found again by whoever was not told, with the same fingerprints, so that
// all paths meet in one work item. It hands events on and starts nothing.
//
// A quiet repository costs one request per tick: mostly the list of what changed,
// which is a 304 where the forge has ETags. That list misses what moves no time of
// update: results of checks, edits of comments (Gitea), conflicts with a base that
// moved. So a pull request where something is going on (a check is pending, the forge
// is still working out whether it can be merged) is looked at in each tick; and every
// few ticks the one request of a quiet repository goes, in place of the list, to what
// was looked at longest ago.
//
// A cursor is a time by the forge's clock. It moves only when the sink has taken all
// that was found before it, and overlaps: who is killed in between finds the same
// again, with the same fingerprints.
package poll
