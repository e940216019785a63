package gate

import (
	"testing"
	"time"
	"fmt"
	"context"
	"github.com/godbus/dbus/v5"
	"github.com/oneslot/oneslot/test/rig"
)
func TestDbg(t *testing.T) {
	s := rig.StartSystemd(t)
	gg, _ := NewSystemd(Systemd{User: true, Units: []string{"x*"}, Getenv: s.Getenv})
	g := gg.(*systemd)
	ctx, c := context.WithTimeout(t.Context(), 4*time.Second)
	defer c()
	conn, at, err := g.dial(ctx)
	fmt.Println(at, err)
	ch := make(chan *dbus.Signal, 100)
	conn.Signal(ch)
	m := conn.Object("org.freedesktop.systemd1", "/org/freedesktop/systemd1")
	fmt.Println(m.CallWithContext(ctx, "org.freedesktop.systemd1.Manager.Subscribe", 0).Err)
	s.MustRun(t, "systemd-run", "--user", "--unit=xa.service", "true")
	for { select { case x := <-ch: if x == nil {return}; fmt.Println(x.Name, x.Path); case <-ctx.Done(): return } }
}
