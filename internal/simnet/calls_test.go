package simnet_test

import (
	"errors"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// A call rings on the phone and on linked devices. Answering or rejecting it on one
// of them notifies the caller and the other devices.
func TestCalls_RingOnAllDevices(t *testing.T) {
	_, own, anna, c := pair(t)
	call, err := anna.Call(within(t), own, simnet.CallOptions{Video: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Event(within(t), func(e any) bool { offer, ok := e.(*events.CallOffer); return ok && offer.CallID == call.ID() }); err != nil {
		t.Error(err)
	}
	if err := c.cli.RejectCall(within(t), anna.LID(), call.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := call.WaitRejected(within(t)); err != nil {
		t.Error(err)
	}
	told, err := own.Event(within(t), func(e any) bool { end, ok := e.(*events.CallTerminate); return ok && end.CallID == call.ID() })
	if err != nil || told.(*events.CallTerminate).Reason != "rejected_elsewhere" {
		t.Errorf("the phone got %+v, %v", told, err)
	}
	if err := call.HangUp(within(t)); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("hanging up on a call that is over: %v", err)
	}
}
