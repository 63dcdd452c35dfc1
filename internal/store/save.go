package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// The names of settings.
const (
	settingStatus  = "store.status"
	settingBackup  = "store.backup_failed" // the last night whose failure was logged
	settingLastSeq = "store.last_seq"      // of the messages that were removed
)

// Save writes the updates of one stanza, [bridge.Bounded]: all of them or none. When it returns nil, they
// are on the disk. Saving them again changes nothing. An update that is not permitted, such as an edit by
// another person, is ignored without an error, so that the network does not send the stanza again. An
// update of a message that is not stored yet becomes pending. Save fails with
// [bridge.CodeStorageUnavailable].
func (s *Store) Save(ctx context.Context, facts ...bridge.Fact) error {
	return s.write(ctx, func(t *writeTx) {
		for _, fact := range facts {
			t.save(bridge.Bounded(fact))
		}
	})
}

func (t *writeTx) save(fact bridge.Fact) {
	switch f := fact.(type) {
	case bridge.Message:
		t.saveMessage(f)
	case bridge.Group:
		groupTx{t}.saveGroup(f)
	case bridge.Identity:
		t.SaveIdentity(f)
	case bridge.IdentityChange:
		t.SaveIdentityChange(f)
	case bridge.Contact:
		t.SaveContact(f)
	case bridge.Block:
		t.saveBlock(f)
	case bridge.Blocklist:
		t.saveBlocklist(f)
	case bridge.ReactionChange:
		t.saveReaction(f)
	case bridge.Edit:
		editTx{t}.saveEdit(f)
	case bridge.Deletion:
		t.saveDeletion(f)
	case bridge.DeletionForMe:
		t.saveDeletionForMe(f)
	case bridge.NoMessage:
		t.saveNoMessage(f)
	case bridge.RemovedElsewhere:
		t.saveRemovedElsewhere(f)
	case bridge.PollVote:
		t.saveVote(f)
	case bridge.EventResponse:
		t.saveEventResponse(f)
	case bridge.PollOptionAdded:
		t.savePollOption(f)
	case bridge.Pin:
		markTx{t}.savePin(f)
	case bridge.Keep:
		markTx{t}.saveKeep(f)
	case bridge.Star:
		markTx{t}.saveStar(f)
	case bridge.LabelChange:
		labelTx{t}.saveLabel(f)
	case bridge.ChatLabel:
		labelTx{t}.saveChatLabel(f)
	case bridge.MessageLabel:
		labelTx{t}.saveMessageLabel(f)
	case bridge.Encrypted:
		t.saveEncrypted(f)
	case bridge.Receipt:
		t.saveReceipt(f)
	case bridge.SendResult:
		t.saveSendResult(f)
	case bridge.GroupChange:
		groupTx{t}.saveGroupChange(f)
	case bridge.MemberLabel:
		groupTx{t}.saveMemberLabel(f)
	case bridge.ChatTimer:
		t.saveTimer(f)
	case bridge.Owner:
		t.SaveOwner(f)
	case bridge.MediaMoved:
		t.saveMediaMoved(f)
	case bridge.GroupWithheld:
		groupTx{t}.saveWithheld(f)
	case bridge.ChatRead:
		t.saveChatRead(f)
	case bridge.ChatMarkedUnread:
		t.saveMarkedUnread(f)
	case bridge.ChatSettings:
		t.saveSettings(f)
	case bridge.SendKey:
		settings.SaveSendKey(t.Conn, t.at, f)
	case bridge.NumberCheck:
		settings.SaveNumberCheck(t.Conn, t.at, f)
	case bridge.KeyedRequest:
		settings.SaveKeyedRequest(t.Conn, t.at, f)
	case bridge.GroupMade:
		settings.SaveGroupMade(t.Conn, f)
	case bridge.Call:
		callTx{t}.saveCall(f)
	case bridge.CallChange:
		callTx{t}.saveCallChange(f)
	case bridge.CallsMissed:
		callTx{t}.saveCallsMissed(f)
	case bridge.NewChat:
		t.saveNewChat(f)
	case bridge.HistoryPart:
		settings.SaveHistoryPart(t.Conn, f)
	case bridge.HistoryStep:
		t.saveHistoryStep(f)
	case bridge.HistoryForgotten:
		t.forgetHistory()
	case bridge.ChatHistoryEnd:
		t.saveHistoryEnd(f)
	case bridge.ChatName:
		t.saveChatName(f)
	case bridge.Imported:
		t.saveImported(f)
	case bridge.Status:
		t.saveStatus(f)
	default:
		t.Fail(fmt.Errorf("the store does not know this kind of update"))
	}
}

// saveNewChat counts the first message of a chat, or refuses it. One that fails counts: the
// network has seen it. Another try in the same chat does not count again.
func (t *writeTx) saveNewChat(f bridge.NewChat) {
	if !f.Limit.IsLimited() || !f.Chat.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	if c.person == t.People.OwnerID() || !read.IsNewChat(t.Conn, t.People.Canonical(f.Chat)) {
		return
	}
	t.Run("DELETE FROM new_chats WHERE at <= ?", t.at-read.NewChatLife.Milliseconds())
	read.MayBegin(t.Conn, f.Limit, t.at)
	t.Run("INSERT INTO new_chats (chat, at) VALUES (?, ?)", c.id, t.at)
}
