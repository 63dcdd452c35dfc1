package cloud

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// page returns a list that has no other pages.
func page(items ...any) object {
	if items == nil {
		items = []any{}
	}
	return object{"data": items, "paging": object{"cursors": object{"before": "", "after": ""}}}
}

// numberOf describes the account's number. A token that may not see the account's status
// sees that it is not known.
func numberOf(c *compat.Call, account *bridge.User) (object, error) {
	state := "UNKNOWN"
	status, err := c.API.Status(c.Context())
	switch {
	case bridge.CodeOf(err) == bridge.CodeForbidden:
	case err != nil:
		return nil, err
	case status.Status == bridge.StateOpen:
		state = "CONNECTED"
	default:
		state = "DISCONNECTED"
	}
	id := account.JID.User()
	return object{
		"id": id, "display_phone_number": id, "verified_name": account.PushName, "code_verification_status": "VERIFIED", "quality_rating": "GREEN",
		"platform_type": "CLOUD_API", "throughput": object{"level": "STANDARD"}, "status": state, "account_mode": "LIVE",
	}, nil
}

func listNumbers(c *compat.Call) (compat.Answer, error) {
	account, err := accountOf(c, c.PathValue("account"))
	if err != nil {
		return compat.Answer{}, err
	}
	number, err := numberOf(c, account)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(page(number))
}

// register answers that the number is registered, which it is by being linked.
func register(*compat.Call) (compat.Answer, error) { return compat.OK(done) }

func deregister(*compat.Call) (compat.Answer, error) {
	return compat.Answer{}, bridge.Invalid("bridged does not do this, and nothing was changed: unlink the account in the console, or with POST /api/auth/logout")
}

func showProfile(*compat.Call) (compat.Answer, error) {
	return compat.OK(object{"data": []any{object{"about": "", "messaging_product": "whatsapp"}}})
}

func changeProfile(*compat.Call) (compat.Answer, error) {
	return compat.Answer{}, bridge.Invalid("bridged does not do this, and nothing was changed: the profile is changed on the phone")
}

func listTemplates(*compat.Call) (compat.Answer, error) { return compat.OK(page()) }

// showToken describes the caller's token. Another one is not looked at.
func showToken(c *compat.Call) (compat.Answer, error) {
	asked := c.URL.Query().Get("input_token")
	if asked != "" && asked != c.API.Token() {
		return compat.OK(object{"data": object{"is_valid": false, "scopes": []string{}, "error": object{
			"code": codeKey, "message": "bridged describes the token that a request carries, and no other",
		}}})
	}
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	expires := int64(0)
	if own.ExpiresAt != nil {
		expires = own.ExpiresAt.Unix()
	}
	return compat.OK(object{"data": object{
		"app_id": "bridged", "application": "bridged", "type": "SYSTEM_USER", "is_valid": true, "expires_at": expires, "scopes": permissions(own),
	}})
}

// permissions returns Meta's words for what a token may do.
func permissions(own client.OwnToken) []string {
	scopes := []string{}
	if own.Allows(bridge.ScopeRead) || own.Allows(bridge.ScopeManage) {
		scopes = append(scopes, "whatsapp_business_management")
	}
	if own.Allows(bridge.ScopeSend) {
		scopes = append(scopes, "whatsapp_business_messaging")
	}
	return scopes
}

// subscriptions returns the caller's webhooks that were made by subscribing, those of one
// address unless it is empty.
func subscriptions(c *compat.Call, address string) (found []bridge.Webhook, err error) {
	all, err := compat.OwnWebhooks(c, bridge.FormatCloud)
	for _, w := range all {
		if slices.Equal(w.Options.Events, subscribed) && (address == "" || w.URL == address) {
			found = append(found, w)
		}
	}
	return found, err
}

func listSubscriptions(c *compat.Call) (compat.Answer, error) {
	all, err := subscriptions(c, "")
	if err != nil {
		return compat.Answer{}, err
	}
	apps := []any{}
	for _, w := range all {
		apps = append(apps, object{
			"whatsapp_business_api_data": object{"id": "bridged", "name": "bridged", "link": ""}, "override_callback_uri": w.URL,
		})
	}
	return compat.OK(object{"data": apps})
}

// subscription holds the body that subscribes an address or ends that.
type subscription struct {
	Address     string `json:"override_callback_uri"`
	VerifyToken string `json:"verify_token"`
}

// subscribe makes a webhook, or changes that of the same address. The secret that signs the
// posts of a new one stands beside the answer: it is shown this once.
func subscribe(c *compat.Call) (compat.Answer, error) {
	var in subscription
	if err := c.DecodeOptional(&in); err != nil {
		return compat.Answer{}, err
	}
	earlier, err := subscriptions(c, in.Address)
	switch {
	case err != nil:
		return compat.Answer{}, err
	case in.Address == "" && len(earlier) > 0:
		return compat.OK(done)
	case in.Address == "":
		return compat.Answer{}, bridge.Invalid("give override_callback_uri and verify_token: bridged has no other address to post to")
	}
	change := client.WebhookChange{
		URL: &in.Address, Types: new(posted), Format: new(bridge.FormatCloud), Options: &bridge.FormatOptions{Events: subscribed, VerifyToken: in.VerifyToken}, Enabled: new(true),
	}
	id := int64(0)
	if len(earlier) > 0 {
		id = earlier[0].ID
	}
	kept, err := compat.KeepWebhook(c, id, change)
	switch {
	case err != nil:
		return compat.Answer{}, err
	case kept.Secret == "":
		return compat.OK(done)
	}
	return compat.OK(object{"success": true, "app_secret": kept.Secret})
}

// unsubscribe removes what subscribing made: of one address, or all of the caller's.
func unsubscribe(c *compat.Call) (compat.Answer, error) {
	in := subscription{Address: c.URL.Query().Get("override_callback_uri")}
	if err := c.DecodeOptional(&in); err != nil {
		return compat.Answer{}, err
	}
	ours, err := subscriptions(c, in.Address)
	if err != nil {
		return compat.Answer{}, err
	}
	for _, w := range ours {
		if err := c.API.DeleteWebhook(c.Context(), w.ID); err != nil {
			return compat.Answer{}, err
		}
	}
	return compat.OK(done)
}
