package groups

import (
	"context"
	"slices"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// step is one request for a [bridge.GroupPatch].
type step struct {
	field string
	node  waBinary.Node
	fact  bridge.GroupChange
}

// ChangeGroup changes the fields that differ from the current group, one by one: name, topic,
// isAnnounce, isLocked, joinApproval, memberAddMode, disappearingSeconds. It returns the changed fields. After
// an error, Changed has the fields that were changed before it.
func (gs *Groups) ChangeGroup(ctx context.Context, jid bridge.JID, patch bridge.GroupPatch) ([]string, error) {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	info, err := c.describe(ctx, jid)
	if err != nil {
		return nil, err
	}
	steps := c.steps(info, patch)
	if err := mayChange(info, steps); err != nil {
		return nil, err
	}
	changed := []string{}
	for _, step := range steps {
		if err := c.takeStep(ctx, jid, step); err != nil {
			return nil, bridge.AfterChanges(changed, step.field, err)
		}
		changed = append(changed, step.field)
	}
	return changed, nil
}

// takeStep makes one change. If another admin has changed the description since it was read, it
// is overwritten, once.
func (c *conn) takeStep(ctx context.Context, jid bridge.JID, step step) error {
	_, err := c.changeGroups(ctx, convert.WireJID(jid), step.node)
	if iqCode(err) == codeConflict && step.node.Tag == "description" {
		info, asked := c.describe(ctx, jid)
		if asked != nil {
			return asked
		}
		_, err = c.changeGroups(ctx, convert.WireJID(jid), c.topicNode(info.TopicID, *step.fact.Topic))
	}
	if err != nil {
		if iqCode(err) == codeBlocked {
			return bridge.Fail(bridge.CodeSendRefused, "the network does not accept this %s (code 406): change or shorten it", step.field).Because(err)
		}
		return c.refusal(ctx, jid, err)
	}
	step.fact.JID = jid
	c.gs.saveOwnChange(step.fact)
	return nil
}

// mayChange refuses changes that make no sense for a community, which is not a chat.
func mayChange(info *types.GroupInfo, steps []step) error {
	ofChats := []string{"isAnnounce", "isLocked", "joinApproval", "memberAddMode", "disappearingSeconds"}
	if !info.IsParent || !slices.ContainsFunc(steps, func(s step) bool { return slices.Contains(ofChats, s.field) }) {
		return nil
	}
	return bridge.Fail(bridge.CodeNotAChat, "a community is not a chat and has only a name and a topic: change its announcement group, or another of its groups")
}

// steps returns the requests for the fields that differ.
func (c *conn) steps(info *types.GroupInfo, patch bridge.GroupPatch) (steps []step) {
	add := func(field string, node waBinary.Node, fact bridge.GroupChange) {
		steps = append(steps, step{field, node, fact})
	}
	if p := patch.Name; p != nil && *p != info.Name {
		add("name", waBinary.Node{Tag: "subject", Content: []byte(*p)}, bridge.GroupChange{Name: p})
	}
	if p := patch.Topic; p != nil && *p != info.Topic {
		add("topic", c.topicNode(info.TopicID, *p), bridge.GroupChange{Topic: p})
	}
	if p := patch.IsAnnounce; p != nil && *p != info.IsAnnounce {
		add("isAnnounce", onOff(*p, "announcement", "not_announcement"), bridge.GroupChange{IsAnnounce: p})
	}
	if p := patch.IsLocked; p != nil && *p != info.IsLocked {
		add("isLocked", onOff(*p, "locked", "unlocked"), bridge.GroupChange{IsLocked: p})
	}
	if p := patch.JoinApproval; p != nil && *p != info.IsJoinApprovalRequired {
		state := onOff(*p, "on", "off").Tag
		add("joinApproval", waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{
			{Tag: "group_join", Attrs: waBinary.Attrs{"state": state}},
		}}, bridge.GroupChange{JoinApproval: p})
	}
	if p := patch.MemberAddMode; p != nil && *p != convert.AddMode(string(info.MemberAddMode)) {
		add("memberAddMode", waBinary.Node{Tag: "member_add_mode", Content: []byte(convert.AddModeOnWire(*p))}, bridge.GroupChange{MemberAddMode: p})
	}
	if p := patch.Disappearing; p != nil && *p != info.DisappearingTimer {
		node := onOff(*p > 0, "ephemeral", "not_ephemeral")
		if *p > 0 {
			node.Attrs = waBinary.Attrs{"expiration": strconv.Itoa(int(*p))}
		}
		add("disappearingSeconds", node, bridge.GroupChange{Expiration: p})
	}
	return steps
}

func onOff(on bool, yes, no string) waBinary.Node {
	if on {
		return waBinary.Node{Tag: yes}
	}
	return waBinary.Node{Tag: no}
}

// topicNode returns the request for a new description, which names the description that it
// replaces; "" removes the description.
func (c *conn) topicNode(previous, topic string) waBinary.Node {
	node := waBinary.Node{Tag: "description", Attrs: waBinary.Attrs{"id": c.GenerateMessageID()}}
	if previous != "" {
		node.Attrs["prev"] = previous
	}
	if topic == "" {
		node.Attrs["delete"] = "true"
		return node
	}
	node.Content = []waBinary.Node{{Tag: "body", Content: []byte(topic)}}
	return node
}
