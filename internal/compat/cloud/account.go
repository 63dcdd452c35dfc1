package cloud

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/compat"
)

// page returns the only page of a list.
func page(items ...any) object {
	if items == nil {
		items = []any{}
	}
	return object{"data": items, "paging": object{"cursors": object{"before": "", "after": ""}}}
}

// numberOf describes the account's number. Its status is UNKNOWN if the token may not see it.
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

func listNumbers(c *compat.Call) (any, error) {
	account, err := accountOf(c, c.PathValue("account"))
	if err != nil {
		return nil, err
	}
	number, err := numberOf(c, account)
	return page(number), err
}

// register does nothing, because a linked number is registered.
func register(*compat.Call) (any, error) { return done, nil }

func deregister(*compat.Call) (any, error) {
	return nil, bridge.Invalid("bridged does not do this, and nothing was changed: unlink the account in the console, or with POST /api/auth/logout")
}

func showProfile(*compat.Call) (any, error) {
	return object{"data": []any{object{"about": "", "messaging_product": "whatsapp"}}}, nil
}

func changeProfile(*compat.Call) (any, error) {
	return nil, bridge.Invalid("bridged does not do this, and nothing was changed: the profile is changed on the phone")
}

func listTemplates(*compat.Call) (any, error) { return page(), nil }

// showToken describes the caller's token, and no other.
func showToken(c *compat.Call) (any, error) {
	asked := c.URL.Query().Get("input_token")
	if asked != "" && asked != c.API.Token() {
		return object{"data": object{"is_valid": false, "scopes": []string{}, "error": object{
			"code": codeKey, "message": "bridged describes the token that a request carries, and no other",
		}}}, nil
	}
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return nil, err
	}
	expires := int64(0)
	if own.ExpiresAt != nil {
		expires = own.ExpiresAt.Unix()
	}
	return object{"data": object{
		"app_id": "bridged", "application": "bridged", "type": "SYSTEM_USER", "is_valid": true, "expires_at": expires, "scopes": permissions(own),
	}}, nil
}

// permissions returns the scopes of a token with Meta's names.
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

// subscriptions returns the caller's webhooks that subscribe created. If address is not empty, it returns
// only those of the address.
func subscriptions(c *compat.Call, address string) (found []bridge.Webhook, err error) {
	all, err := compat.OwnWebhooks(c, bridge.FormatCloud)
	for _, w := range all {
		if slices.Equal(w.Options.Events, subscribed) && (address == "" || w.URL == address) {
			found = append(found, w)
		}
	}
	return found, err
}

func listSubscriptions(c *compat.Call) (any, error) {
	all, err := subscriptions(c, "")
	apps := []any{}
	for _, w := range all {
		apps = append(apps, object{
			"whatsapp_business_api_data": object{"id": "bridged", "name": "bridged", "link": ""}, "override_callback_uri": w.URL,
		})
	}
	return object{"data": apps}, err
}

// subscription is the body of a request that subscribes or unsubscribes an address.
type subscription struct {
	Address     string `json:"override_callback_uri"`
	VerifyToken string `json:"verify_token"`
}

// subscribe creates a webhook, or changes the one of the same address. Its answer has the secret that signs
// the posts of a new webhook, which is shown only once.
func subscribe(c *compat.Call) (any, error) {
	var in subscription
	if err := c.DecodeOptional(&in); err != nil {
		return nil, err
	}
	earlier, err := subscriptions(c, in.Address)
	switch {
	case err != nil:
		return nil, err
	case in.Address == "" && len(earlier) > 0:
		return done, nil
	case in.Address == "":
		return nil, bridge.Invalid("give override_callback_uri and verify_token: bridged has no other address to post to")
	}
	change := client.WebhookChange{
		URL: &in.Address, Types: new(posted), Format: new(bridge.FormatCloud), Options: &bridge.FormatOptions{Events: subscribed, VerifyToken: in.VerifyToken}, Enabled: new(true),
	}
	id := int64(0)
	if len(earlier) > 0 {
		id = earlier[0].ID
	}
	saved, err := compat.SaveWebhook(c, id, change)
	if err != nil || saved.Secret == "" {
		return done, err
	}
	return object{"success": true, "app_secret": saved.Secret}, nil
}

// unsubscribe removes the caller's subscription of an address, or all of them.
func unsubscribe(c *compat.Call) (any, error) {
	in := subscription{Address: c.URL.Query().Get("override_callback_uri")}
	if err := c.DecodeOptional(&in); err != nil {
		return nil, err
	}
	ours, err := subscriptions(c, in.Address)
	if err != nil {
		return nil, err
	}
	for _, w := range ours {
		if err := c.API.DeleteWebhook(c.Context(), w.ID); err != nil {
			return nil, err
		}
	}
	return done, nil
}
