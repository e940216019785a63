// Package token has the sources of a forge's token: one that is read where it is kept,
// those of a GitHub App, and the helpers that gh and git have for people.
//
// A token is in memory and in one header, nowhere else: no error, no argument list and
// no file of ours ever has it. What it is good for is for the forge to say.
package token
