// Package doctor looks at everything that oneslot stands on and says what is
// wrong with it and what to do.
//
// A check sees the world through Subject alone, so that a test can give it a
// broken one. What it may complain of is in one table (Findings): a complaint
// that is not in the table cannot be made, and the tests show each that is.
package doctor
