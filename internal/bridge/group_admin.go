package bridge

// NewGroup describes a group to create.
type NewGroup struct {
	Name         string
	Participants []JID
	Key          string // identifies the group in the network's reports

	Again bool  // an earlier call with the same Idempotency-Key may have created it
	Made  JID   // the group, if the network has announced it
	Known []JID // groups of that name that other calls created or that existed before
}

// GroupCreated describes a created group.
type GroupCreated struct {
	JID          JID                 `json:"jid"`
	Name         string              `json:"name"`
	Participants []ParticipantResult `json:"participants"`
}

// GroupPatch changes a group's settings. Nil fields stay unchanged.
type GroupPatch struct {
	Name          *string        `json:"name"`
	Topic         *string        `json:"topic"`
	IsAnnounce    *bool          `json:"isAnnounce"`
	IsLocked      *bool          `json:"isLocked"`
	JoinApproval  *bool          `json:"joinApproval"`
	Disappearing  *uint32        `json:"disappearingSeconds"` // 0 is never
	MemberAddMode *MemberAddMode `json:"memberAddMode"`
}

// ParticipantAction is a change of a group's members, or a decision about a join request.
type ParticipantAction string

const (
	ParticipantAdd     ParticipantAction = "add"
	ParticipantRemove  ParticipantAction = "remove"
	ParticipantPromote ParticipantAction = "promote"
	ParticipantDemote  ParticipantAction = "demote"
	ParticipantApprove ParticipantAction = "approve"
	ParticipantReject  ParticipantAction = "reject"
)

// IsDecision reports whether an action is a decision about a join request.
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

// AsNamed returns the request with only the field Named of its person.
func (r JoinRequest) AsNamed() JoinRequest {
	bare := JoinRequest{JID: r.Named, RequestedAt: r.RequestedAt, Named: r.Named}
	if r.Named.IsLID() {
		bare.LID = r.Named
	}
	return bare
}

// JoinRequestChange lists new join requests and those that were withdrawn or rejected.
type JoinRequestChange struct {
	Created []JoinRequest `json:"created"`
	Revoked []JoinRequest `json:"revoked"`
}

// ParticipantsChange changes the members of a group, or decides about join requests.
type ParticipantsChange struct {
	Group        JID
	Action       ParticipantAction
	Participants []JID
	Again        bool // see [NewGroup]
}

// ParticipantStatus is the outcome for one person of a [ParticipantsChange] or [NewGroup].
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

// ParticipantResult is the outcome for one person. Error is a sentence, or nil for success.
type ParticipantResult struct {
	JID    JID               `json:"jid"`
	LID    JID               `json:"lid"`
	Status ParticipantStatus `json:"status"`
	Error  *string           `json:"error"`
	Invite *PersonalInvite   `json:"invite"`
}

// PersonalInvite lets one person, who may not be added, join the group.
type PersonalInvite struct {
	Code      string `json:"code"`
	ExpiresAt Time   `json:"expiresAt"`
}

// GroupLink is the invite link of a group.
type GroupLink struct {
	JID  JID    `json:"jid"`
	Link string `json:"link"`
	Code string `json:"code"`
}

// InvitedGroup describes the group that an invite link leads to.
type InvitedGroup struct {
	GroupLink
	Name         string `json:"name"`
	Topic        string `json:"topic"`
	OwnerJID     JID    `json:"ownerJid"`
	CreatedAt    *Time  `json:"createdAt"`
	Participants int    `json:"participants"`
	IsAnnounce   bool   `json:"isAnnounce"`
	JoinApproval bool   `json:"joinApproval"`
}

// InviteLinkPrefix is the start of every group's link. The code follows it.
const InviteLinkPrefix = "https://chat.whatsapp.com/"

// JoinStatus is the outcome of joining a group. Pending means that an admin must approve.
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
