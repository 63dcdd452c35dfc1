package simnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/groups"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// GroupOptions describes a new group.
type GroupOptions struct {
	Subject string
	Members []*Phone
	// Crowd adds members whose phones are switched off.
	Crowd *people.Crowd
	// ByNumber creates a group that addresses its members by number instead of by LID.
	ByNumber bool
	// ID is the JID's part before the @, like "4915112345678-1600000000" in old groups; generated if empty.
	ID        string
	Topic     string
	CreatedAt time.Time // now, if zero
	Announce  bool
	Locked    bool
	Ephemeral uint32
	// Community creates a community: its members cannot write in it.
	Community bool
	// AnnouncementsOf creates the announcement group of this community.
	AnnouncementsOf *Group
}

// Group lets members read and change a group.
type Group struct {
	net *Network
	jid types.JID
}

var (
	// ErrGroupExists reports that the id belongs to an existing group.
	ErrGroupExists = errors.New("a group with this id exists")
	// ErrNotAllowed reports a change that the member may not make.
	ErrNotAllowed = errors.New("the member may not do that in this group")
)

// CreateGroup creates a group owned by the phone's account and waits until the phones of all members show it.
func (p *Phone) CreateGroup(ctx context.Context, opts GroupOptions) (*Group, error) {
	n := p.net
	n.Mu.Lock()
	if n.Groups[opts.ID] != nil {
		n.Mu.Unlock()
		return nil, ErrGroupExists
	}
	g := n.NewGroup(p.Account, opts.ID, opts.Subject, !opts.ByNumber, opts.members())
	if opts.Topic != "" {
		g.Describe(p.Account, &Node{Tag: "description", Content: []Node{{Tag: "body", Content: []byte(opts.Topic)}}})
	}
	if !opts.CreatedAt.IsZero() {
		g.CreatedAt = opts.CreatedAt
	}
	g.Announce, g.Locked, g.Ephemeral = opts.Announce, opts.Locked, opts.Ephemeral
	g.Parent = opts.Community
	if opts.AnnouncementsOf != nil {
		g.Announce, g.Community = true, opts.AnnouncementsOf.jid
	}
	n.AnnounceBirth(g, p.Account, "", g.Sorted()...)
	handle := &Group{net: n, jid: g.JID()}
	members := g.Sorted()
	n.Mu.Unlock()
	if err := acquaint(ctx, members); err != nil {
		return nil, err
	}
	return handle, handle.settle(ctx)
}

func (o GroupOptions) members() []*people.Account {
	members := accountsOf(o.Members)
	if o.Crowd != nil {
		members = append(members, o.Crowd.Accounts...)
	}
	return members
}

func accountsOf(phones []*Phone) []*people.Account {
	out := make([]*people.Account, len(phones))
	for i, p := range phones {
		out[i] = p.Account
	}
	return out
}

// Group looks a group up by its JID, for example one that a client has created.
func (n *Network) Group(jid types.JID) (*Group, bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	_, ok := n.Groups[jid.User]
	return &Group{net: n, jid: jid.ToNonAD()}, ok
}

// JID returns the group's address.
func (g *Group) JID() types.JID { return g.jid }

// Members returns the members in the order of joining, by the group's form of address.
func (g *Group) Members() []types.JID {
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	return g.net.Groups[g.jid.User].JIDs()
}

// Name returns the group's current subject.
func (g *Group) Name() string {
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	return g.net.Groups[g.jid.User].Subject
}

// settle waits until every phone has handled the last change.
func (g *Group) settle(ctx context.Context) error {
	if err := g.net.Settle(ctx); err != nil {
		return fmt.Errorf("wait until the phones know the group's change: %w", err)
	}
	return nil
}

// Add adds members. The caller must be an admin, as for Remove, Promote and Demote.
func (g *Group) Add(ctx context.Context, by *Phone, who ...*Phone) error {
	return g.changeMembers(ctx, by, "add", who)
}

// Remove removes members.
func (g *Group) Remove(ctx context.Context, by *Phone, who ...*Phone) error {
	return g.changeMembers(ctx, by, "remove", who)
}

// Promote makes members admins.
func (g *Group) Promote(ctx context.Context, by *Phone, who ...*Phone) error {
	return g.changeMembers(ctx, by, "promote", who)
}

// Demote makes admins plain members.
func (g *Group) Demote(ctx context.Context, by *Phone, who ...*Phone) error {
	return g.changeMembers(ctx, by, "demote", who)
}

func (g *Group) changeMembers(ctx context.Context, by *Phone, change string, who []*Phone) error {
	g.net.Mu.Lock()
	state := g.net.Groups[g.jid.User]
	if m := state.Members[by.Account]; m == nil || !m.IsAdmin() {
		g.net.Mu.Unlock()
		return ErrNotAllowed
	}
	g.net.ApplyMembers(state, by.Account, change, accountsOf(who))
	members := state.Sorted()
	g.net.Mu.Unlock()
	if err := acquaint(ctx, members); err != nil {
		return err
	}
	return g.settle(ctx)
}

// Leave removes a member at their own request.
func (g *Group) Leave(ctx context.Context, who *Phone) error {
	g.net.Mu.Lock()
	g.net.RemoveMembers(g.net.Groups[g.jid.User], who.Account, []*people.Account{who.Account})
	g.net.Mu.Unlock()
	return g.settle(ctx)
}

// SetSubject changes the group's name.
func (g *Group) SetSubject(ctx context.Context, by *Phone, subject string) error {
	return g.change(ctx, by, Node{Tag: "subject", Content: []byte(subject)})
}

// SetTopic changes the group's description; "" removes it.
func (g *Group) SetTopic(ctx context.Context, by *Phone, topic string) error {
	request := Node{Tag: "description", Attrs: attrs{}, Content: []Node{{Tag: "body", Content: []byte(topic)}}}
	g.net.Mu.Lock()
	wire.Set(request.Attrs, "prev", g.net.Groups[g.jid.User].TopicID)
	g.net.Mu.Unlock()
	return g.change(ctx, by, request)
}

// SetAnnounce sets whether only admins may write.
func (g *Group) SetAnnounce(ctx context.Context, by *Phone, announce bool) error {
	return g.change(ctx, by, Node{Tag: wire.Either(announce, "announcement", "not_announcement")})
}

// SetLocked sets whether only admins may change the group's name and description.
func (g *Group) SetLocked(ctx context.Context, by *Phone, locked bool) error {
	return g.change(ctx, by, Node{Tag: wire.Either(locked, "locked", "unlocked")})
}

// SetAddressing switches the group between numbers and LIDs. Members are not notified: the server refuses a message in the old form with 421,
// and its sender learns of the change by querying the group.
func (g *Group) SetAddressing(byNumber bool) {
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	g.net.Groups[g.jid.User].LidMode = !byNumber
}

// SetEphemeral sets the time in seconds after which messages disappear, 0 for never.
func (g *Group) SetEphemeral(ctx context.Context, by *Phone, seconds uint32) error {
	if seconds == 0 {
		return g.change(ctx, by, Node{Tag: "not_ephemeral"})
	}
	return g.change(ctx, by, Node{Tag: "ephemeral", Attrs: attrs{"expiration": fmt.Sprint(seconds)}})
}

func (g *Group) change(ctx context.Context, by *Phone, request Node) error {
	g.net.Mu.Lock()
	state := g.net.Groups[g.jid.User]
	if state.Members[by.Account] == nil {
		g.net.Mu.Unlock()
		return ErrNotAllowed
	}
	refused := g.net.ChangeGroup(state, by.Account, &request)
	g.net.Mu.Unlock()
	if refused.Code != 0 {
		return fmt.Errorf("%w: %d %s", ErrNotAllowed, refused.Code, refused.Text)
	}
	return g.settle(ctx)
}

// Withdraw withdraws a person's request to join.
func (g *Group) Withdraw(ctx context.Context, who *Phone) error {
	g.net.Mu.Lock()
	g.net.Withdraw(g.net.Groups[g.jid.User], who.Account, who.Account)
	g.net.Mu.Unlock()
	return g.settle(ctx)
}

// SetApproval sets whether an admin has to approve people who join by the link.
func (g *Group) SetApproval(ctx context.Context, by *Phone, on bool) error {
	return g.change(ctx, by, groups.ApprovalNode(on))
}

// SetAddMode lets every member add others, or only admins.
func (g *Group) SetAddMode(ctx context.Context, by *Phone, everyone bool) error {
	mode := types.GroupMemberAddModeAdmin
	if everyone {
		mode = types.GroupMemberAddModeAllMember
	}
	return g.change(ctx, by, Node{Tag: "member_add_mode", Content: []byte(mode)})
}

// Approve admits a person who asked to join by the link.
func (g *Group) Approve(ctx context.Context, by, who *Phone) error {
	_, err := by.client.UpdateGroupRequestParticipants(ctx, g.jid, []types.JID{who.LID()}, whatsmeow.ParticipantChangeApprove)
	if err != nil {
		return err
	}
	return g.settle(ctx)
}

// Requests returns the JIDs of the people who wait for approval.
func (g *Group) Requests() []types.JID {
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	var out []types.JID
	for _, r := range g.net.Groups[g.jid.User].Requests {
		out = append(out, r.Who.LID())
	}
	return out
}

// Link returns the group's invite link, as an admin's app shows it.
func (g *Group) Link(ctx context.Context, by *Phone) (string, error) {
	return by.client.GetGroupInviteLink(ctx, g.jid, false)
}

// Limit sets the largest number of members.
func (g *Group) Limit(members int) {
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	g.net.Groups[g.jid.User].Limit = members
}

// SetPicture sets the group's picture in both sizes and notifies the members. Empty bytes remove the picture.
func (g *Group) SetPicture(by *Phone, full, preview []byte) {
	shown := g.net.CDN().Picture(full, preview)
	g.net.Mu.Lock()
	defer g.net.Mu.Unlock()
	g.net.Registry.SetPicture(g.net.Groups[g.jid.User], by.Account, shown)
}

// Picture returns the group's picture as a phone shows it, large or as a preview; nil without one.
func (g *Group) Picture(ctx context.Context, as *Phone, preview bool) ([]byte, error) {
	info, err := as.client.GetProfilePictureInfo(ctx, g.jid, &whatsmeow.GetProfilePictureParams{Preview: preview})
	if errors.Is(err, whatsmeow.ErrProfilePictureNotSet) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, info.URL, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := as.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the picture of the group: %s", resp.Status)
	}
	return io.ReadAll(resp.Body)
}
