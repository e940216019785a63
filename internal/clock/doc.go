// Package clock tells the two times that oneslot works with: boot time, which
// counts suspend and never steps and judges every deadline, and wall time,
// which is for people and for the floor of fences.
package clock
