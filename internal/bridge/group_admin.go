package bridge

// NewGroup describes a group to be made.
type NewGroup struct {
	Name         string
	Participants []JID
	Key          string // by which the group is recognised in what the network reports

	Again bool  // an earlier call with the same Idempotency-Key may have made it
	Made  JID   // the group, if the network has reported it since
	Known []JID // groups of that name which other calls made, or which there were before
}

// GroupCreated describes a group that was made.
type GroupCreated struct {
	JID          JID                 `json:"jid"`
	Name         string              `json:"name"`
	Participants []ParticipantResult `json:"participants"`
}

// GroupPatch changes a group's settings; nil fields stay as they are.
type GroupPatch struct {
	Name         *string `json:"name"`
	Topic        *string `json:"topic"`
	IsAnnounce   *bool   `json:"isAnnounce"`
	IsLocked     *bool   `json:"isLocked"`
	JoinApproval *bool   `json:"joinApproval"`
	Disappearing *uint32 `json:"disappearingSeconds"` // 0 is never
}

// ParticipantAction names a change of a group's members, or a decision about a request to join.
type ParticipantAction string

const (
	ParticipantAdd     ParticipantAction = "add"
	ParticipantRemove  ParticipantAction = "remove"
	ParticipantPromote ParticipantAction = "promote"
	ParticipantDemote  ParticipantAction = "demote"
	ParticipantApprove ParticipantAction = "approve"
	ParticipantReject  ParticipantAction = "reject"
)

// IsDecision reports whether an action decides about a request to join.
func (a ParticipantAction) IsDecision() bool {
	return a == ParticipantApprove || a == ParticipantReject
}

// JoinRequest is a person's request to join a group.
type JoinRequest struct {
	JID         JID     `json:"jid"`
	LID         JID     `json:"lid"`
	Username    *string `json:"username"`
	DisplayName string  `json:"displayName"`
	RequestedAt *Time   `json:"requestedAt"` // nil in one that was withdrawn

	Named JID `json:"-"` // as the network named them, by number or by LID
}

// AsNamed returns the request with nothing about its person but Named.
func (r JoinRequest) AsNamed() JoinRequest {
	bare := JoinRequest{JID: r.Named, RequestedAt: r.RequestedAt, Named: r.Named}
	if r.Named.IsLID() {
		bare.LID = r.Named
	}
	return bare
}

// JoinRequestChange has new requests to join, and those that were withdrawn or rejected.
type JoinRequestChange struct {
	Created []JoinRequest `json:"created"`
	Revoked []JoinRequest `json:"revoked"`
}

// ParticipantsChange changes the members of a group, or decides about requests to join.
type ParticipantsChange struct {
	Group        JID
	Action       ParticipantAction
	Participants []JID
	Again        bool // see [NewGroup]
}

// ParticipantStatus names the outcome for one person of a [ParticipantsChange] or [NewGroup].
type ParticipantStatus string

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

// ParticipantResult reports the outcome for one person. Error is a sentence, nil for success.
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

// GroupLink holds the link by which a group may be joined.
type GroupLink struct {
	JID  JID    `json:"jid"`
	Link string `json:"link"`
	Code string `json:"code"`
}

// InviteLinkPrefix begins the link of every group; the code follows.
const InviteLinkPrefix = "https://chat.whatsapp.com/"

// JoinStatus names the outcome of joining a group: pending where an admin has to agree.
type JoinStatus string

const (
	GroupJoined  JoinStatus = "joined"
	GroupPending JoinStatus = "pending"
)

// GroupJoin is the answer to joining a group.
type GroupJoin struct {
	JID    JID        `json:"jid"`
	Status JoinStatus `json:"status"`
}
