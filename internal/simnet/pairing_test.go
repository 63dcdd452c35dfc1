package simnet_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

func TestPairing_ByCode(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newCompanion(t, n)
	c.pairByCode(own)
	mustSend(t, anna, own.PN(), "hello")
	m := c.text("hello")
	if m.Info.Chat != anna.PN() {
		t.Errorf("chat %s, want %s", m.Info.Chat, anna.PN())
	}
	if _, err := c.cli.SendMessage(within(t), m.Info.Chat, &waE2E.Message{Conversation: proto.String("answer")}); err != nil {
		t.Fatalf("answer: %v", err)
	}
	r := mustReceive(t, anna, "answer")
	t.Log(r.Info.SourceString())
	r = mustReceive(t, own, "answer")
	t.Log(r.Info.SourceString())
}
