package simnet

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
)

// answerPeer handles a companion's request to the phone.
func (p *Phone) answerPeer(message *events.Message) {
	asked := message.Message.GetProtocolMessage()
	p.mu.Lock()
	deaf := p.deaf
	p.mu.Unlock()
	p.net.Mu.Lock()
	d := p.net.DeviceOf(message.Info.Sender)
	p.net.Mu.Unlock()
	if asked == nil || deaf || d == nil || d.Account != p.Account || d.Number == 0 {
		return
	}
	if asked.GetAppStateSyncKeyRequest() != nil {
		p.background("share keys again", func(ctx context.Context) error {
			if _, err := p.beginAppState(ctx); err != nil {
				return err
			}
			return p.shareKeys(ctx, d)
		})
		return
	}
	request := asked.GetPeerDataOperationRequestMessage()
	if p.historyRequested(d, request) || p.recoveryRequested(d, message.Info.ID, request) {
		return
	}
	if request.GetPeerDataOperationRequestType() == waE2E.PeerDataOperationRequestType_PLACEHOLDER_MESSAGE_RESEND && request != nil {
		p.background("send a message again to a companion", func(ctx context.Context) error {
			return p.resendToCompanion(ctx, d, message.Info.ID, request)
		})
	}
}

// IgnoreRequests makes the phone ignore its companions' requests, as if it were switched off, or answer them again.
func (p *Phone) IgnoreRequests(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
}

// resendToCompanion sends a companion the phone's copies of messages that it could not decrypt.
func (p *Phone) resendToCompanion(ctx context.Context, d *people.Device, id types.MessageID, request *waE2E.PeerDataOperationRequestMessage) error {
	response := &waE2E.PeerDataOperationRequestResponseMessage{
		PeerDataOperationRequestType: request.PeerDataOperationRequestType, StanzaID: proto.String(id),
	}
	for _, wanted := range request.GetPlaceholderMessageResendRequest() {
		info, err := p.webMessage(ctx, wanted.GetMessageKey())
		if err != nil {
			return err
		}
		raw, err := proto.Marshal(info)
		if err != nil {
			return fmt.Errorf("marshal a message for a companion: %w", err)
		}
		response.PeerDataOperationResult = append(response.PeerDataOperationResult, &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult{
			PlaceholderMessageResendResponse: &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult_PlaceholderMessageResendResponse{
				WebMessageInfoBytes: raw,
			},
		})
	}
	return p.sendPeer(ctx, d, &waE2E.ProtocolMessage{
		Type:                                    waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE.Enum(),
		PeerDataOperationRequestResponseMessage: response,
	})
}

// webMessage returns a message in the form that phones send to companions. It waits for one that is still on its way.
func (p *Phone) webMessage(ctx context.Context, key *waCommon.MessageKey) (*waWeb.WebMessageInfo, error) {
	p.mu.Lock()
	own, mine := p.sent[key.GetID()]
	p.mu.Unlock()
	if mine {
		return &waWeb.WebMessageInfo{Key: key, Message: own.msg, MessageTimestamp: proto.Uint64(uint64(own.at.Unix()))}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := p.ReceivedID(ctx, key.GetID())
	if err != nil {
		return nil, fmt.Errorf("find the message that a companion asks for: %w", err)
	}
	info := &waWeb.WebMessageInfo{
		Key: key, Message: r.RawMessage, MessageTimestamp: proto.Uint64(uint64(r.Info.Timestamp.Unix())), PushName: proto.String(r.Info.PushName),
	}
	if r.Info.IsGroup {
		info.Participant = proto.String(r.Info.Sender.ToNonAD().String())
	}
	return info, nil
}
