// Package measure takes the measurements, each number in a file of its own or
// beside its like. They use the store as the program does, and the program itself
// where the demand is about it. What they start they end, by its pid, whatever
// happens.
package measure
