package rundir

import "testing"

func TestForking(t *testing.T) {
	d, err := In(t.TempDir()).Create("abc")
	if err != nil {
		t.Fatal(err)
	}
	if d.Forked() {
		t.Error("forked before anybody forks")
	}
	if err := d.Forking(); err != nil || !d.Forked() {
		t.Errorf("not noted: %v", err)
	}
	if At(d.Path() + "/none").Forked() {
		t.Error("a folder that is not there has a mark")
	}
}
