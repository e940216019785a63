package queue

import (
	"fmt"
	"strconv"
)

// EventID and DeliveryID name the n-th record of a store, from 1. They sort by n.
func EventID(n int64) string { return fmt.Sprintf("e%012d", n) }

// DeliveryID is the id of a store's n-th delivery.
func DeliveryID(n int64) string { return fmt.Sprintf("d%012d", n) }

// Number is the n of an id of either kind; 0 if it is none.
func Number(id string) int64 {
	if len(id) < 2 || id[0] != 'e' && id[0] != 'd' {
		return 0
	}
	n, err := strconv.ParseInt(id[1:], 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
