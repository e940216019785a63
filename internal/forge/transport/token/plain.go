package token

import "context"

// Plain is a token that others take care of: it is read, and read again when the forge
// rejects it.
type Plain func() (string, error)

// Token implements transport.TokenSource.
func (p Plain) Token(context.Context) (string, error) { return p() }

// Renew implements transport.TokenSource.
func (p Plain) Renew(context.Context, string) (string, error) { return p() }
