package config

import (
	"net/url"
	"strconv"
)

// Chatwoot is an inbox of Chatwoot, for the command that writes into it.
type Chatwoot struct {
	URL     string
	Token   string
	Account int64
	Inbox   int64
}

// chatwootVariables are the variables that [ReadChatwoot] reads.
var chatwootVariables = []string{"CHATWOOT_URL", "CHATWOOT_TOKEN", "CHATWOOT_TOKEN_FILE", "CHATWOOT_ACCOUNT_ID", "CHATWOOT_INBOX_ID"}

// ReadChatwoot reads the variables of an inbox.
func ReadChatwoot(environ []string) (c Chatwoot, err error) {
	var faults Faults
	variables := byCurrentName(environ)
	c.URL = variables["CHATWOOT_URL"]
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		faults.add("CHATWOOT_URL, or --url, must be the address of Chatwoot, such as https://chatwoot.example.com")
	}
	before := len(faults)
	c.Token = secret("CHATWOOT_TOKEN", variables["CHATWOOT_TOKEN"], variables["CHATWOOT_TOKEN_FILE"], &faults)
	if len(faults) == before && !isVisible(c.Token) {
		faults.add("CHATWOOT_TOKEN, or a file in CHATWOOT_TOKEN_FILE, must be the access token of an administrator, from Profile Settings in Chatwoot")
	}
	id := func(name, flag, segment string) int64 {
		n, err := strconv.ParseInt(variables[name], 10, 64)
		if err != nil || n <= 0 {
			faults.add("%s, or --%s, must be the number after /%s/ in the address of the inbox's settings in Chatwoot", name, flag, segment)
		}
		return n
	}
	c.Account = id("CHATWOOT_ACCOUNT_ID", "account", "accounts")
	c.Inbox = id("CHATWOOT_INBOX_ID", "inbox", "inboxes")
	if len(faults) > 0 {
		return Chatwoot{}, faults
	}
	return c, nil
}
