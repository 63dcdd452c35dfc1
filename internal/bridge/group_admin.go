package bridge

// NewGroup is a group to be made. Key is what the network is told to know it
// again by. With Again an earlier call under the same Idempotency-Key ended
// without an answer, and may have made the group.
type NewGroup struct {
	Name         string
	Participants []JID
	Key          string

	Again bool
	Made  JID   // the group, where the network has told of it since
	Known []JID // groups of that name which others calls made, or which there were before
}

// GroupCreated is a group that was made.
type GroupCreated struct {
	JID          JID                 `json:"jid"`
	Name         string              `json:"name"`
	Participants []ParticipantResult `json:"participants"`
}

// GroupPatch is what is to change in a group; nil fields stay as they are.
type GroupPatch struct {
	Name         *string
	Topic        *string
	IsAnnounce   *bool
	IsLocked     *bool
	JoinApproval *bool
	Disappearing *uint32 // seconds; 0 is never
}

// ParticipantAction is a change of a group's members.
type ParticipantAction string

// The changes of members.
const (
	ParticipantAdd     ParticipantAction = "add"
	ParticipantRemove  ParticipantAction = "remove"
	ParticipantPromote ParticipantAction = "promote"
	ParticipantDemote  ParticipantAction = "demote"
)

// ParticipantActions returns all actions.
func ParticipantActions() []ParticipantAction {
	return []ParticipantAction{ParticipantAdd, ParticipantRemove, ParticipantPromote, ParticipantDemote}
}

// What can be decided about those who ask to be let in.
const (
	ParticipantApprove ParticipantAction = "approve"
	ParticipantReject  ParticipantAction = "reject"
)

// RequestActions returns what can be decided about those who ask to be let in.
func RequestActions() []ParticipantAction {
	return []ParticipantAction{ParticipantApprove, ParticipantReject}
}

// IsDecision reports whether an action is about somebody who asks to be let in.
func (a ParticipantAction) IsDecision() bool {
	return a == ParticipantApprove || a == ParticipantReject
}

// JoinRequest is somebody who asks to be let into a group. RequestedAt is nil where
// they do so no more.
type JoinRequest struct {
	JID         JID     `json:"jid"`
	LID         JID     `json:"lid"`
	Username    *string `json:"username"`
	DisplayName string  `json:"displayName"`
	RequestedAt *Time   `json:"requestedAt"`

	// Named is how the network named them: in one form, by number or by LID.
	Named JID `json:"-"`
}

// AsNamed returns the request with no more about its person than how the network
// named them.
func (r JoinRequest) AsNamed() JoinRequest {
	bare := JoinRequest{JID: r.Named, RequestedAt: r.RequestedAt, Named: r.Named}
	if r.Named.IsLID() {
		bare.LID = r.Named
	}
	return bare
}

// JoinRequestChange names who asks to be let into a group since an event, and who
// does so no more: they have taken it back, or were rejected.
type JoinRequestChange struct {
	Created []JoinRequest `json:"created"`
	Revoked []JoinRequest `json:"revoked"`
}

// ParticipantsChange is a change of some members of a group, or a decision about
// some who want to become members.
type ParticipantsChange struct {
	Group        JID
	Action       ParticipantAction
	Participants []JID
	Again        bool // see [NewGroup]
}

// ParticipantStatus is what became of one person of a [ParticipantsChange], or
// of a [NewGroup].
type ParticipantStatus string

// What can become of a person.
const (
	ParticipantDone         ParticipantStatus = "done"
	ParticipantAlready      ParticipantStatus = "already_member"
	ParticipantNotMember    ParticipantStatus = "not_a_member"
	ParticipantNoRequest    ParticipantStatus = "no_request"
	ParticipantInvite       ParticipantStatus = "invite_required"
	ParticipantRecentlyLeft ParticipantStatus = "recently_left"
	ParticipantFull         ParticipantStatus = "group_full"
	ParticipantNotOnNetwork ParticipantStatus = "not_on_network"
	ParticipantRefused      ParticipantStatus = "refused"
)

// ParticipantResult is what became of one person. Error is a sentence, null
// where the change was made.
type ParticipantResult struct {
	JID    JID               `json:"jid"`
	LID    JID               `json:"lid"`
	Status ParticipantStatus `json:"status"`
	Error  *string           `json:"error"`
	Invite *PersonalInvite   `json:"invite"`
}

// PersonalInvite lets one person, who may not be added, join by themselves.
type PersonalInvite struct {
	Code      string `json:"code"`
	ExpiresAt Time   `json:"expiresAt"`
}

// GroupLink is the link by which a group may be joined.
type GroupLink struct {
	JID  JID    `json:"jid"`
	Link string `json:"link"`
	Code string `json:"code"`
}

// InviteLinkPrefix begins the link of every group; the code follows.
const InviteLinkPrefix = "https://chat.whatsapp.com/"

// JoinStatus is what became of a try to join a group.
type JoinStatus string

// What can become of it: where an admin has to agree, it is pending.
const (
	GroupJoined  JoinStatus = "joined"
	GroupPending JoinStatus = "pending"
)

// GroupJoin is a group that was joined, or is to be.
type GroupJoin struct {
	JID    JID        `json:"jid"`
	Status JoinStatus `json:"status"`
}
