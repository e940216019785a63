// Package measure takes the nine measurements, each in a file of its own. They
// use the store as the program does, and the program itself where the demand is
// about it. What they start they end, by its pid, whatever happens.
package measure
