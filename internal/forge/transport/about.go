package transport

import "context"

type key int

const (
	ownerKey key = iota
	pathKey
)

// ForOwner says which owner a request is about, where its path does not: a token
// source may have one token per owner.
func ForOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey, owner)
}

// Owner is what ForOwner said, or "".
func Owner(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey).(string)
	return owner
}

func withPath(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, pathKey, path)
}

// Path is the path of the request that a token is asked for, or "".
func Path(ctx context.Context) string {
	path, _ := ctx.Value(pathKey).(string)
	return path
}
