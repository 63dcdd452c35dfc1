package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waVnameCert"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// Profile asks the network what a person shows about themselves, and about their business.
// whatsmeow's own methods (GetUserInfo, GetBusinessProfile) leave out the tick, the description
// and the websites. JID, LID and AskedAt of the result are empty.
func (c *Client) Profile(ctx context.Context, person types.JID) (p bridge.Profile, err error) {
	list, err := c.dangerous().Usync(ctx, []types.JID{person}, "query", "interactive", []waBinary.Node{
		{Tag: "business", Content: []waBinary.Node{{Tag: "verified_name"}}},
		{Tag: "status"},
	}, whatsmeow.UsyncQueryExtras{IncludePrivacyToken: true})
	if err != nil {
		return p, err
	}
	user, found := list.GetOptionalChildByTag("user")
	if !found {
		return p, errors.New("the network's answer about a person is empty")
	}
	status := user.GetChildByTag("status")
	if about := contentText(&status); about != "" {
		p.About = &about
	}
	if business, ok := user.GetOptionalChildByTag("business"); ok {
		name := business.GetChildByTag("verified_name")
		p.Verified = name.AttrGetter().OptionalString("verified_level") == "high"
		if p.Business, err = c.businessProfile(ctx, person); err != nil {
			return p, err
		}
		p.Business.Name = verifiedName(name)
	}
	p.Bound()
	return p, nil
}

// verifiedName returns the name in the certificate of a business, or "".
func verifiedName(node waBinary.Node) string {
	raw, _ := node.Content.([]byte)
	var certificate waVnameCert.VerifiedNameCertificate
	var details waVnameCert.VerifiedNameCertificate_Details
	if proto.Unmarshal(raw, &certificate) != nil || proto.Unmarshal(certificate.GetDetails(), &details) != nil {
		return ""
	}
	return details.GetVerifiedName()
}

// businessProfile asks for the profile of a business. Businesses without one have an empty one.
func (c *Client) businessProfile(ctx context.Context, business types.JID) (*bridge.BusinessProfile, error) {
	answer, err := c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "w:biz", Type: "get", To: types.ServerJID,
		Content: []waBinary.Node{{Tag: "business_profile", Attrs: waBinary.Attrs{"v": "244"}, Content: []waBinary.Node{
			{Tag: "profile", Attrs: waBinary.Attrs{"jid": business}},
		}}},
	})
	if errors.Is(err, whatsmeow.ErrIQNotFound) {
		return new(bridge.BusinessProfile), nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the profile of a business: %w", err)
	}
	profile, _ := answer.GetOptionalChildByTag("business_profile", "profile")
	p := &bridge.BusinessProfile{
		Description: childText(profile, "description"), Address: childText(profile, "address"), Email: childText(profile, "email"),
	}
	for _, website := range profile.GetChildrenByTag("website") {
		p.Websites = append(p.Websites, contentText(&website))
	}
	categories := profile.GetChildByTag("categories")
	for _, category := range categories.GetChildrenByTag("category") {
		p.Categories = append(p.Categories, contentText(&category))
	}
	if hours, given := profile.GetOptionalChildByTag("business_hours"); given {
		p.Hours = businessHours(hours)
	}
	return p, nil
}

func childText(node waBinary.Node, tag string) string {
	child := node.GetChildByTag(tag)
	return contentText(&child)
}

func businessHours(node waBinary.Node) *bridge.BusinessHours {
	hours := &bridge.BusinessHours{Timezone: node.AttrGetter().OptionalString("timezone")}
	for _, config := range node.GetChildrenByTag("business_hours_config") {
		attrs := config.AttrGetter()
		day := bridge.BusinessDay{Day: attrs.OptionalString("day_of_week"), Mode: bridge.BusinessMode(attrs.OptionalString("mode"))}
		if day.Mode == bridge.OpenHours {
			day.Opens, day.Closes = clockTime(attrs.OptionalString("open_time")), clockTime(attrs.OptionalString("close_time"))
		}
		hours.Days = append(hours.Days, day)
	}
	return hours
}

// clockTime returns a time of the day, which the network counts in minutes, or nil if it is invalid.
func clockTime(minutes string) *string {
	n, err := strconv.Atoi(minutes)
	if err != nil || n < 0 || n > 24*60 {
		return nil
	}
	return new(fmt.Sprintf("%02d:%02d", n/60, n%60))
}
