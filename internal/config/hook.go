package config

// Hook is one webhook endpoint, POST /hooks/NAME.
type Hook struct {
	Name  Value[string] // path-safe
	Forge Value[string] // one of forgeTypes
	// Host is the canonical host that its refs get; empty: the one that each
	// payload names.
	Host   Value[string]
	Secret Secret
	// Unsigned: requests without a signature are taken.
	Unsigned Value[bool]
	// Commands are what a comment's line begins with to be a command.
	Commands Value[[]string]

	origin Origin
}

func newHook(at Origin) Hook {
	return Hook{Unsigned: byDefault(false), Commands: byDefault(DefaultCommands()), origin: at}
}

// DefaultCommands are what a comment's line begins with to be a command, unless a
// hook names others.
func DefaultCommands() []string { return []string{"/oneslot"} }

// roles are what a token may do; each may all that the one before it may.
func roles() []string { return []string{"read", "dispatch", "admin"} }

// Token is a token of the API.
type Token struct {
	Name   Value[string]
	Role   Value[string] // one of roles
	Secret Secret

	origin Origin
}
