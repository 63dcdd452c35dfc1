package wa_test

import (
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// encryptedVote returns a vote encrypted for a voter and a creator in given forms,
// which names the creator in a third.
func encryptedVote(t *testing.T, group, voter, creator, named types.JID, id string, secret []byte, option string) *waE2E.Message {
	t.Helper()
	plain, err := proto.Marshal(&waE2E.PollVoteMessage{SelectedOptions: whatsmeow.HashPollOptions([]string{option})})
	if err != nil {
		t.Fatal(err)
	}
	key := hkdfutil.SHA256(secret, nil, []byte(id+creator.String()+voter.String()+string(whatsmeow.EncSecretPollVote)), 32)
	iv := []byte("twelve bytes")
	encrypted, err := gcmutil.Encrypt(key, iv, plain, fmt.Appendf(nil, "%s\x00%s", id, voter))
	if err != nil {
		t.Fatal(err)
	}
	return &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
		PollCreationMessageKey: &waCommon.MessageKey{RemoteJID: proto.String(group.String()), Participant: proto.String(named.String()), FromMe: proto.Bool(false), ID: &id},
		Vote:                   &waE2E.PollEncValue{EncPayload: encrypted, EncIV: iv}, SenderTimestampMS: proto.Int64(time.Now().UnixMilli()),
	}}
}

// TestVotes_InEveryMixtureOfNumbersAndLIDs for the stanza, the voter, the poll's
// creator and the key, before the poll has come and after.
func TestVotes_InEveryMixtureOfNumbersAndLIDs(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	voter, creator := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	form := func(p *simnet.Phone, bit int) types.JID {
		if bit == 0 {
			return p.PN()
		}
		return p.LID()
	}
	for stanza, name := range []string{"by number", "by LID"} {
		group, err := creator.CreateGroup(ctx, simnet.GroupOptions{Subject: name, ByNumber: stanza == 0, Members: []*simnet.Phone{voter, a.phone}})
		if err != nil {
			t.Fatal(err)
		}
		chat := bridge.JID(group.JID().String())
		var polls []string
		for mixture := range 8 {
			for _, when := range []string{"EARLY", "LATE"} {
				id := fmt.Sprintf("%s%d%d", when, stanza, mixture)
				polls = append(polls, id)
				if when == "LATE" {
					a.device().HoldBack(id)
				}
				if _, err := creator.SendPoll(ctx, group.JID(), "Lunch?", []string{"yes", "no"}, 1, simnet.WithID(id)); err != nil {
					t.Fatal(err)
				}
				poll, err := voter.ReceivedID(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				vote := encryptedVote(t, group.JID(), form(voter, mixture&1), form(creator, mixture>>1&1), form(creator, mixture>>2&1), id,
					poll.RawMessage.GetMessageContextInfo().GetMessageSecret(), "no")
				if _, err := voter.Send(ctx, group.JID(), vote); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := voter.SendText(ctx, group.JID(), "behind them all", simnet.WithID("LAST"+name[3:4])); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the votes", func() bool { return len(a.messages(chat)) == 8+1 })
		a.device().Release()
		eventually(t, "the late polls", func() bool { return len(a.messages(chat)) == 16+1 })
		for _, id := range polls {
			if poll := a.message(chat, id).Poll; poll == nil || poll.Options[1].Votes != 1 || poll.Options[1].Voters[0] != jidOf(voter) {
				t.Errorf("%s %s: %+v", name, id, poll)
			}
		}
	}
}
