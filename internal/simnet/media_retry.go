package simnet

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// keptMedia is a message whose file the phone still has.
type keptMedia struct {
	message *waE2E.Message
	source  types.MessageSource
}

// isNamed reports whether a request has the message's original form of address.
func (k keptMedia) isNamed(rmr *Node) bool {
	if wire.JID(rmr, "jid") != k.source.Chat.ToNonAD() {
		return false
	}
	return !k.source.IsGroup || wire.JID(rmr, "participant") == k.source.Sender.ToNonAD()
}

func (p *Phone) keepMedia(r *Received) {
	if content.FileOf(r.Message.Message) == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[r.Info.ID] = keptMedia{message: r.Message.Message, source: r.Info.MessageSource}
}

// MediaAnswer selects the phone's answer to a companion's request for a new upload.
type MediaAnswer int

const (
	// MediaReupload uploads the file again.
	MediaReupload MediaAnswer = iota
	// MediaGone answers, unencrypted, that the phone no longer has the file.
	MediaGone
	// MediaNotFound says the same in an encrypted answer.
	MediaNotFound
	// MediaGeneralError answers with a general error.
	MediaGeneralError
	// MediaSilent does not answer.
	MediaSilent
	// MediaByForm uploads the file again if the request names chat and sender as the message did, and otherwise answers that it is gone.
	MediaByForm
	// MediaByFormSilent does the same, but sends no answer if the names differ.
	MediaByFormSilent
)

// AnswerMedia sets the phone's answer to companions' requests for files from now on.
func (p *Phone) AnswerMedia(how MediaAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.media = how
}

// ReuploadTo makes the phone claim this path for every file that it uploads again from now on; "" ends that.
func (p *Phone) ReuploadTo(directPath string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mediaPath = directPath
}

// AskForMedia handles a companion's request for a file. The caller holds Directory.Mu.
func (p *Phone) AskForMedia(d *people.Device, node *Node) {
	request := *node
	rmr, ok := wire.Child(node, "rmr")
	if !ok {
		// Requests for a lost history name no message.
		p.sendHistoryAgain(d, wire.Text(node, "id"))
		return
	}
	p.background("upload media again", func(context.Context) error {
		answer, err := p.mediaAnswer(&request)
		if err != nil || answer.Tag == "" {
			return err
		}
		p.net.Mu.Lock()
		defer p.net.Mu.Unlock()
		p.net.Push(d, Node{Tag: "notification", Attrs: attrs{
			"from": p.Account.PN(), "type": "mediaretry", "id": wire.Text(&request, "id"), "t": wire.UnixNow(),
		}, Content: []Node{*rmr, answer}})
		return nil
	})
}

// mediaAnswer returns the answer to a request, or an empty node for none.
func (p *Phone) mediaAnswer(request *Node) (Node, error) {
	id := wire.Text(request, "id")
	p.mu.Lock()
	how, claimed := p.media, p.mediaPath
	kept, ok := p.kept[id]
	p.mu.Unlock()
	gone := Node{Tag: "error", Attrs: attrs{"code": "2"}}
	rmr, _ := wire.Child(request, "rmr")
	switch {
	case how == MediaSilent, how == MediaByFormSilent && !kept.isNamed(rmr):
		return Node{}, nil
	case how == MediaGone || !ok, how == MediaByForm && !kept.isNamed(rmr):
		return gone, nil
	}
	file := content.FileOf(kept.message)
	key := hkdfutil.SHA256(file.GetMediaKey(), nil, []byte("WhatsApp Media Retry Notification"), 32)
	if err := checkMediaRequest(request, id, key); err != nil {
		return Node{}, err
	}
	notification := &waMmsRetry.MediaRetryNotification{StanzaID: proto.String(id)}
	switch how {
	case MediaNotFound:
		notification.Result = waMmsRetry.MediaRetryNotification_NOT_FOUND.Enum()
	case MediaGeneralError:
		notification.Result = waMmsRetry.MediaRetryNotification_GENERAL_ERROR.Enum()
	default:
		path, stored := p.net.CDN().Reupload(file.GetDirectPath())
		if !stored {
			return gone, nil
		}
		if claimed != "" {
			path = claimed
		}
		notification.Result, notification.DirectPath = waMmsRetry.MediaRetryNotification_SUCCESS.Enum(), proto.String(path)
	}
	return encryptMediaAnswer(notification, id, key)
}

// checkMediaRequest fails unless the request proves knowledge of the file's key.
func checkMediaRequest(request *Node, id string, key []byte) error {
	encrypted, iv := wire.ChildBytes(request, "encrypt", "enc_p"), wire.ChildBytes(request, "encrypt", "enc_iv")
	if len(iv) != 12 {
		return errors.New("a media request without nonce")
	}
	if _, err := gcmutil.Decrypt(key, iv, encrypted, []byte(id)); err != nil {
		return fmt.Errorf("decrypt a media request: %w", err)
	}
	return nil
}

// encryptMediaAnswer returns the encrypted answer to such a request.
func encryptMediaAnswer(notification *waMmsRetry.MediaRetryNotification, id string, key []byte) (Node, error) {
	plain, err := proto.Marshal(notification)
	if err != nil {
		return Node{}, fmt.Errorf("marshal a media answer: %w", err)
	}
	iv := wire.Random(12)
	encrypted, err := gcmutil.Encrypt(key, iv, plain, []byte(id))
	if err != nil {
		return Node{}, fmt.Errorf("encrypt a media answer: %w", err)
	}
	return Node{Tag: "encrypt", Content: []Node{{Tag: "enc_p", Content: encrypted}, {Tag: "enc_iv", Content: iv}}}, nil
}
