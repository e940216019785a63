// Package standby starts supervisors before they are needed: processes of this
// program that have opened the store and wait for a job on their standard input.
//
// A supervisor is a process of its own, in a session of its own, so that the end
// of the dispatcher does not touch it. It exists before the claim does, so that
// the claim's commit can name it. The job, with the claim's token, comes by pipe;
// if the dispatcher dies before it sends one, the pipe ends and so does the
// supervisor, and with it the claim is proved dead.
package standby
