package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// partOf returns how an unwrapped message is a part of another one; nil where it
// is a message of its own, as the pictures of an album are.
func partOf(msg *waE2E.Message) *waE2E.MessageAssociation {
	part := msg.GetMessageContextInfo().GetMessageAssociation()
	switch part.GetAssociationType() {
	case waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD, waE2E.MessageAssociation_HD_VIDEO_DUAL_UPLOAD,
		waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD, waE2E.MessageAssociation_MOTION_PHOTO:
		return part
	}
	return nil
}

// partFacts returns what a part changes. Phones send a small picture or film first
// and its HD upload behind it, which replaces it. The film of a motion photo, and
// a copy in a coding that fewer programs play, change nothing.
func partFacts(part *waE2E.MessageAssociation, message bridge.Message, pushName string) []bridge.Fact {
	target := ID(part.GetParentMessageKey().GetID())
	switch part.GetAssociationType() {
	case waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD, waE2E.MessageAssociation_MOTION_PHOTO:
		return nil
	}
	message.PushName = pushName
	if target == "" {
		return []bridge.Fact{message}
	}
	hd := message
	hd.ID = target
	return []bridge.Fact{bridge.Edit{Chat: message.Chat, Target: target, Editor: message.SenderJID, Timestamp: message.Timestamp, New: hd, Upload: &message}}
}
