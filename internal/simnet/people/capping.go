package people

import (
	"encoding/json"
	"strconv"
	"time"
)

// Capping is how many chats an account may begin in a cycle. The zero value means no limit.
type Capping struct {
	Status      string // NONE, FIRST_WARNING, SECOND_WARNING or CAPPED
	Total, Used int
	Start, End  time.Time
}

// CodeCapped refuses the first message of a chat when the cycle's new chats are used up.
const CodeCapped = 475

// CappingQuery is the id of the query FetchNewChatMessageCappingInfo in WhatsApp Web, as of 2026.
const CappingQuery = "24503548349331633"

// CapNewChats limits the chats that the account may begin, and notifies its devices. The zero Capping ends the limit.
func (a *Account) CapNewChats(c Capping) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.capping = c
	a.net.notifyCapping(a)
}

// CapSilently limits the chats that the account may begin without a notification, as if that was lost.
func (a *Account) CapSilently(c Capping) {
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.capping = c
}

func (n *Directory) notifyCapping(a *Account) {
	for _, d := range a.Sorted() {
		n.Push(d, n.mexNode("MessageCappingInfoNotification", "xwa2_notify_new_chat_messages_capping_info_update", a.cappingInfo()))
	}
}

// cappingInfo returns the network's answer about the limit. Times are texts, counts are numbers.
func (a *Account) cappingInfo() map[string]any {
	c := a.capping
	info := map[string]any{
		"capping_status": "NONE", "ote_status": "NOT_ELIGIBLE", "mv_status": "NOT_ELIGIBLE", "total_quota": -1, "used_quota": 0,
		"cycle_start_timestamp": nil, "cycle_end_timestamp": nil, "server_sent_timestamp": strconv.FormatInt(time.Now().Unix(), 10),
	}
	if c.Total > 0 {
		info["capping_status"], info["total_quota"], info["used_quota"] = c.Status, c.Total, c.Used
		info["cycle_start_timestamp"], info["cycle_end_timestamp"] = strconv.FormatInt(c.Start.Unix(), 10), strconv.FormatInt(c.End.Unix(), 10)
	}
	return info
}

// AnswerCapping returns the answer to CappingQuery. The caller holds Directory.Mu.
func (a *Account) AnswerCapping() []byte {
	data, err := json.Marshal(map[string]any{"data": map[string]any{"xwa2_message_capping_info": a.cappingInfo()}})
	if err != nil {
		panic(err) // plain values cannot fail
	}
	return data
}

// MayBegin reports whether a device may write to an account, counts a chat that begins so, and notifies the account when its new chats are used
// up. Two accounts that have written to each other, in either direction, have begun their chat. The caller holds Directory.Mu.
func (n *Directory) MayBegin(d *Device, to *Account, node *Node) bool {
	from := d.Account
	if to == from || from.met[to] || isTrusted(d, to, node) {
		n.meet(from, to)
		return true
	}
	if c := &from.capping; c.Total > 0 {
		if c.Used >= c.Total {
			return false
		}
		if c.Used++; c.Used == c.Total {
			c.Status = "CAPPED"
			n.notifyCapping(from)
		}
	}
	n.meet(from, to)
	return true
}

func (n *Directory) meet(one, other *Account) {
	for _, pair := range [][2]*Account{{one, other}, {other, one}} {
		if pair[0].met == nil {
			pair[0].met = make(map[*Account]bool)
		}
		pair[0].met[pair[1]] = true
	}
}
