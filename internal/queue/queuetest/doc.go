// Package queuetest is the contract of queue.Store, as tests that every store
// passes, and Memory, the store that is easiest to read.
package queuetest
