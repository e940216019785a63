// Package names keeps a repository one, whatever it is called: its slots have one name
// for ever, and its forge is asked under the name of now.
package names
