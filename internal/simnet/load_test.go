package simnet_test

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet"
)

// BenchmarkBurst measures messages from four contacts until a plain client has decrypted and acknowledged them.
func BenchmarkBurst(b *testing.B) {
	n, err := simnet.New(b.Context(), simnet.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	own, contacts, device := loadScene(b, n)
	b.ResetTimer()
	ids, err := simnet.Burst(b.Context(), contacts, own.PN(), b.N, func(i int) string { return fmt.Sprint("burst ", i) })
	if err != nil {
		b.Fatal(err)
	}
	if err = device.WaitAcknowledged(b.Context(), ids...); err != nil {
		b.Fatal(err)
	}
}

// loadScene links a client in memory and makes four contacts begin their sessions
// with it.
func loadScene(b *testing.B, n *simnet.Network) (own *simnet.Phone, contacts []*simnet.Phone, device *simnet.Device) {
	b.Helper()
	own, err := n.NewPhone(b.Context(), simnet.PhoneOptions{Number: "4915100000001", Name: "Owner"})
	if err != nil {
		b.Fatal(err)
	}
	cli := whatsmeow.NewClient(simnet.NewDevice(waLog.Noop), nil)
	n.Configure(cli)
	cli.SynchronousAck, cli.EnableDecryptedEventBuffer = true, true
	screen := new(simnet.Screen)
	cli.AddEventHandler(screen.Handle)
	if err = cli.Connect(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cli.Disconnect)
	if device, err = own.HoldTo(b.Context(), screen.Shown); err != nil {
		b.Fatal(err)
	}
	if err = device.WaitSynced(b.Context()); err != nil {
		b.Fatal(err)
	}
	for i := range 4 {
		p, err := n.NewPhone(b.Context(), simnet.PhoneOptions{Number: fmt.Sprint(4915100000100 + i), Name: fmt.Sprint("Contact ", i)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err = p.SendText(b.Context(), own.PN(), "hello"); err != nil {
			b.Fatal(err)
		}
		contacts = append(contacts, p)
	}
	return own, contacts, device
}
