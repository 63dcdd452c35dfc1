package config

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Account is a bridge in the list of ACCOUNTS.
type Account struct {
	Name string
	// Address is the console's address in browsers: a path on this bridge's host, without a slash at
	// its end ("" for the root), or a URL.
	Address string
	IsOwn   bool // whether it is this bridge
}

const (
	// maxAccounts limits the list: the console asks each account for its state.
	maxAccounts    = 50
	maxAccountName = 30 // characters
)

// checkAccounts parses ACCOUNTS, the list of the accounts whose consoles link to each other. It compares them with
// BasePath and PublicURLs, which must be checked before.
func (c *Config) checkAccounts(faults *Faults) {
	const fault = "ACCOUNTS must be NAME=PATH or NAME=URL separated by commas, such as Anna=/a/anna,Shop=/a/shop,Berlin=https://berlin.example.com; names have 1 to 30 characters"
	before := len(*faults)
	c.AccountList = parseList(faults, c.Accounts, fault, c.parseAccount)
	if len(*faults) > before || c.AccountList == nil {
		return
	}
	own := 0
	for i, account := range c.AccountList {
		if account.IsOwn {
			own++
		}
		for _, other := range c.AccountList[:i] {
			if strings.EqualFold(account.Name, other.Name) || account.Address == other.Address {
				faults.add("ACCOUNTS has two accounts with the name %s or with its address: give each its own", account.Name)
			} else if isUnder(account.Address, other.Address) || isUnder(other.Address, account.Address) {
				faults.add("ACCOUNTS has %s and %s with one path under the other: proxies and browsers could not tell them apart, so use paths such as /a/anna and /a/shop", account.Name, other.Name)
			}
		}
	}
	switch {
	case own != 1:
		faults.add("ACCOUNTS must have this bridge once, under the path of its BASE_PATH (/ without one) or the address of PUBLIC_URL; then all bridges can have the same list")
	case len(c.AccountList) > maxAccounts:
		faults.add("ACCOUNTS must have at most %d accounts: each console asks all of them for their states", maxAccounts)
	}
}

// isUnder reports whether a path is under another one that is not the root.
func isUnder(path, other string) bool { return other != "" && strings.HasPrefix(path, other+"/") }

// parseAccount parses NAME=PATH or NAME=URL.
func (c *Config) parseAccount(item string) (account Account, ok bool) {
	name, address, _ := strings.Cut(item, "=")
	account = Account{Name: strings.TrimSpace(name), Address: strings.TrimRight(strings.TrimSpace(address), "/")}
	length := utf8.RuneCountInString(account.Name)
	if length == 0 || length > maxAccountName || strings.ContainsFunc(account.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return account, false
	}
	if strings.HasPrefix(strings.TrimSpace(address), "/") {
		account.IsOwn = account.Address == c.BasePath
		return account, account.Address == "" || basePath.MatchString(account.Address)
	}
	at, err := url.Parse(account.Address)
	if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || at.Path != "" && !basePath.MatchString(at.Path) {
		return account, false
	}
	account.IsOwn = slices.ContainsFunc(c.PublicURLs, func(public *url.URL) bool { return sameAddress(public, at) })
	return account, true
}

// sameAddress reports whether two URLs name the same bridge.
func sameAddress(one, other *url.URL) bool {
	return one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host) && one.Path == other.Path
}
