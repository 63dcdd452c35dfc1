package convert

import (
	"cmp"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// TagApprovalOff names a change of a group that whatsmeow would misread.
const TagApprovalOff = "membership_approval_mode off"

// PersonForms lists the attributes of a stanza that have a JID of a person.
var PersonForms = []string{"jid", "phone_number", "lid"}

// Group converts the library's group.
func Group(info *types.GroupInfo) bridge.Group {
	g := bridge.Group{
		JID: JID(info.JID), Name: info.Name, Topic: info.Topic, OwnerJID: cmp.Or(JID(info.OwnerPN), JID(info.OwnerJID)),
		IsAnnounce: info.IsAnnounce, IsLocked: info.IsLocked, JoinApproval: info.IsJoinApprovalRequired, IsCommunity: info.IsParent,
		MemberAddMode: AddMode(string(info.MemberAddMode)),
		Participants:  Participants(info.Participants),
	}
	if !info.GroupCreated.IsZero() {
		g.CreatedAt = new(bridge.At(info.GroupCreated))
	}
	if info.IsEphemeral {
		g.Expiration = info.DisappearingTimer
	}
	return g
}

// AddMode returns who may add members to a group; the network's default is admins.
func AddMode(network string) bridge.MemberAddMode {
	if network == string(types.GroupMemberAddModeAllMember) {
		return bridge.AddedByEveryone
	}
	return bridge.AddedByAdmins
}

// AddModeOnWire is the reverse of [AddMode].
func AddModeOnWire(mode bridge.MemberAddMode) types.GroupMemberAddMode {
	if mode == bridge.AddedByEveryone {
		return types.GroupMemberAddModeAllMember
	}
	return types.GroupMemberAddModeAdmin
}

func Participants(list []types.GroupParticipant) []bridge.Participant {
	participants := make([]bridge.Participant, 0, len(list))
	for _, p := range list {
		if p.Error != 0 { // the answer about a new group also lists people who could not be added
			continue
		}
		participant := bridge.Participant{
			JID: JID(p.PhoneNumber), LID: JID(p.LID), DisplayName: p.DisplayName,
			IsAdmin: p.IsAdmin || p.IsSuperAdmin, IsSuperAdmin: p.IsSuperAdmin,
		}
		switch own := JID(p.JID); {
		case own.IsLID() && participant.LID == "":
			participant.LID = own
		case own.Server() == bridge.ServerUser && participant.JID == "":
			participant.JID = own
		}
		participant.JID = cmp.Or(participant.JID, participant.LID)
		participants = append(participants, participant)
	}
	return participants
}

// GroupFacts returns the identities in a group, then the whole group.
func GroupFacts(info *types.GroupInfo) []bridge.Fact {
	g := Group(info)
	if g.JID == "" {
		return nil
	}
	facts := identityFacts(info.OwnerPN, info.OwnerJID)
	for _, p := range g.Participants {
		if p.LID != "" && p.JID != p.LID {
			facts = append(facts, bridge.Identity{PN: p.JID, LID: p.LID})
		}
	}
	return append(facts, g)
}

// JoinedFacts returns a group that is new to the account, with the key of the request
// that created it, if there is one. own is the account.
func JoinedFacts(e *events.JoinedGroup, own bridge.JID) []bridge.Fact {
	facts := GroupFacts(&e.GroupInfo)
	for i, fact := range facts {
		if group, ok := fact.(bridge.Group); ok {
			group.Joined = true
			switch {
			case e.Sender != nil:
				group.JoinedBy = cmp.Or(JID(*cmp.Or(e.SenderPN, new(types.JID))), JID(*e.Sender))
			case e.Reason == "invite": // by the group's link
				group.JoinedBy = own
			}
			facts[i] = group
		}
	}
	if jid := JID(e.JID); e.CreateKey != "" && jid != "" {
		facts = append(facts, bridge.GroupMade{Key: e.CreateKey, JID: jid})
	}
	return facts
}

// GroupChangeFacts returns a notification's change of a group. own are the account's JIDs.
func GroupChangeFacts(e *events.GroupInfo, own ...bridge.JID) []bridge.Fact {
	jid := JID(e.JID)
	if jid == "" {
		return nil
	}
	change := bridge.GroupChange{JID: jid, Timestamp: bridge.At(e.Timestamp), Left: jids(e.Leave), Promoted: jids(e.Promote), Demoted: jids(e.Demote)}
	if e.Sender != nil {
		change.By = cmp.Or(JID(*cmp.Or(e.SenderPN, new(types.JID))), JID(*e.Sender))
	}
	for _, joined := range jids(e.Join) {
		change.Joined = append(change.Joined, bridge.Participant{JID: joined})
	}
	if e.Name != nil {
		change.Name = &e.Name.Name
	}
	if e.Topic != nil {
		change.Topic = &e.Topic.Topic
	}
	if e.Locked != nil {
		change.IsLocked = &e.Locked.IsLocked
	}
	if e.Announce != nil {
		change.IsAnnounce = &e.Announce.IsAnnounce
	}
	if e.MembershipApprovalMode != nil {
		change.JoinApproval = &e.MembershipApprovalMode.IsJoinApprovalRequired
	}
	if e.Ephemeral != nil {
		change.Expiration = &e.Ephemeral.DisappearingTimer
	}
	if e.Delete != nil { // for everybody: the account is not a member any more
		change.Left = append(change.Left, slices.DeleteFunc(own, func(j bridge.JID) bool { return j == "" })...)
	}
	for _, unknown := range e.UnknownChanges {
		switch unknown.Tag {
		case TagApprovalOff:
			change.JoinApproval = new(false)
		case "member_add_mode":
			mode, _ := unknown.Content.([]byte)
			change.MemberAddMode = new(AddMode(string(mode)))
		case "created_membership_requests":
			change.Asked = append(change.Asked, requestersIn(e, unknown)...)
		case "revoked_membership_requests":
			change.AskNoMore = append(change.AskNoMore, requestersIn(e, unknown)...)
		}
	}
	var facts []bridge.Fact
	for _, moved := range MovedMembers(e) {
		change.Moved = append(change.Moved, moved.member)
		facts = append(facts, moved.Change)
	}
	if e.Sender != nil && e.SenderPN != nil {
		facts = append(identityFacts(*e.Sender, *e.SenderPN), facts...)
	}
	return append(facts, change)
}

// MovedMember is a member of a group who has another number or LID.
type MovedMember struct {
	Change bridge.IdentityChange
	Now    types.JID // in the group's addressing mode: phone numbers or LIDs
	member bridge.MovedMember
}

// MovedMembers returns the members whose number or LID a notification changes. Its sender is the
// previous number or LID, and its participant the new one (WAWebHandleGroupNotificationConst, MODIFY).
func MovedMembers(e *events.GroupInfo) (moved []MovedMember) {
	for _, change := range e.UnknownChanges {
		if change.Tag != "modify" || e.Sender == nil {
			continue
		}
		participant := change.GetChildByTag("participant")
		now, _ := participant.Attrs["jid"].(types.JID)
		if !IsPerson(now) || !IsPerson(*e.Sender) {
			continue
		}
		m := MovedMember{Now: now.ToNonAD()}
		for _, old := range []types.JID{*e.Sender, *cmp.Or(e.SenderPN, new(types.JID))} {
			setJID(&m.Change.OldPN, &m.Change.OldLID, JID(old))
		}
		for _, form := range PersonForms {
			jid, _ := participant.Attrs[form].(types.JID)
			setJID(&m.Change.NewPN, &m.Change.NewLID, JID(jid))
		}
		m.member = bridge.MovedMember{
			From: JID(*e.Sender),
			To:   bridge.Participant{JID: cmp.Or(m.Change.NewPN, m.Change.NewLID), LID: m.Change.NewLID},
		}
		moved = append(moved, m)
	}
	return moved
}

// setJID sets the number or the LID of a person.
func setJID(pn, lid *bridge.JID, jid bridge.JID) {
	switch {
	case jid.IsLID():
		*lid = jid
	case jid.Server() == bridge.ServerUser:
		*pn = jid
	}
}

// PictureFacts returns the change of a group's picture. Changes of people's pictures are not stored.
func PictureFacts(e *events.Picture) []bridge.Fact {
	jid := JID(e.JID)
	if !jid.IsGroup() || !e.Remove && e.PictureID == "" {
		return nil
	}
	id := e.PictureID
	if e.Remove {
		id = ""
	}
	return []bridge.Fact{bridge.GroupChange{JID: jid, PictureID: &id, By: JID(e.Author), Timestamp: bridge.At(e.Timestamp)}}
}

func jids(list []types.JID) []bridge.JID {
	var out []bridge.JID
	for _, j := range list {
		if jid := JID(j); jid != "" {
			out = append(out, jid)
		}
	}
	return out
}

// requestersIn returns the people whose requests to join a notification adds or removes. The apps list them
// as requested users, other clients as participants. A person who used the link may be named as the sender only.
func requestersIn(e *events.GroupInfo, change *waBinary.Node) (people []bridge.Participant) {
	add := func(forms ...types.JID) {
		var p bridge.Participant
		for _, form := range forms {
			switch known := JID(form); {
			case known.IsLID():
				p.LID = known
			case known.IsPerson():
				p.JID = known
			}
		}
		if p.JID = cmp.Or(p.JID, p.LID); p.JID != "" {
			people = append(people, p)
		}
	}
	for _, child := range change.GetChildren() {
		if child.Tag == "requested_user" || child.Tag == "participant" {
			var forms []types.JID
			for _, form := range PersonForms {
				jid, _ := child.Attrs[form].(types.JID)
				forms = append(forms, jid)
			}
			add(forms...)
		}
	}
	method, _ := change.Attrs["request_method"].(string)
	if len(people) == 0 && e.Sender != nil && (method == "" || method == "invite_link") {
		add(*e.Sender, *cmp.Or(e.SenderPN, new(types.JID)))
	}
	return people
}
