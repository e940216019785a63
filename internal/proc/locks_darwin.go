package proc

import "errors"

// LockOwners fails with errors.ErrUnsupported: the kernel does not tell.
func LockOwners(dev, ino uint64) ([]Owner, error) { return nil, errors.ErrUnsupported }

// StopFrozenOwner fails with errors.ErrUnsupported: the kernel does not tell
// who holds a lock.
func StopFrozenOwner(dev, ino uint64) (first Sighting, killed bool, err error) {
	return Sighting{}, false, errors.ErrUnsupported
}
