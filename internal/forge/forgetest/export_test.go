package forgetest

import "testing"

// RunOne runs one test of the suite.
func RunOne(t testing.TB, name string, kind Kind, connect Connect) {
	test := suiteTests()[name]
	if test == nil {
		t.Fatalf("there is no test %s", name)
	}
	test(newSuite(t, kind, connect))
}
