package wa_test

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

type (
	node  = waBinary.Node
	nodes = []waBinary.Node
	attrs = waBinary.Attrs
)

// stanzas returns one stanza of each kind that whatsmeow reads once the account is
// logged in (client.go, nodeHandlers), without those that end the connection.
func (l *lab) stanzas() nodes {
	all := append(l.messageStanzas(), l.receiptStanzas()...)
	all = append(all, l.callStanzas()...)
	all = append(all, l.notificationStanzas()...)
	all = append(all, l.groupStanzas()...)
	return append(all, l.otherStanzas()...)
}

func (l *lab) messageStanzas() nodes {
	friend, number, group := l.friend.LID(), l.friend.PN(), l.group.JID()
	from := func(jid types.JID, children ...node) node {
		return node{Tag: "message", Attrs: attrs{
			"from": jid, "id": "MESSAGE", "t": "1790000000", "type": "text", "notify": "Sam",
			"addressing_mode": "lid", "sender_pn": number, "verified_level": "high", "verified_name": "1",
		}, Content: children}
	}
	enc := func(kind string) node {
		return node{Tag: "enc", Attrs: attrs{"v": "2", "type": kind, "count": "1", "decrypt-fail": "hide", "mediatype": "image"}, Content: []byte("not a ciphertext")}
	}
	inGroup := from(group, enc("skmsg"), enc("msg"))
	inGroup.Attrs["participant"], inGroup.Attrs["participant_pn"], inGroup.Attrs["participant_username"] = friend, number, "sam"
	toList := from(types.NewJID("1700000000", types.BroadcastServer), enc("pkmsg"), node{Tag: "participants", Content: nodes{
		{Tag: "to", Attrs: attrs{"jid": friend, "peer_recipient_pn": number}},
		{Tag: "to", Attrs: attrs{"jid": number, "peer_recipient_lid": friend}},
	}})
	toList.Attrs["participant"] = l.phone.LID()
	toList.Attrs["recipient"] = friend
	own := from(l.phone.LID(), enc("msg"))
	own.Attrs["recipient"], own.Attrs["peer_recipient_pn"], own.Attrs["category"] = friend, number, "peer"
	business := from(number, enc("pkmsg"),
		node{Tag: "verified_name", Attrs: attrs{"v": "1"}, Content: []byte("a certificate")},
		node{Tag: "meta", Attrs: attrs{"target_id": "OTHER", "target_sender_jid": friend, "thread_msg_id": "T", "thread_msg_sender_jid": friend, "deprecated_lid_session": "true"}},
		node{Tag: "bot", Attrs: attrs{"edit": "inner", "edit_target_id": "OTHER", "sender_timestamp_ms": "1790000000000"}},
		node{Tag: "franking", Content: nodes{{Tag: "franking_tag", Content: []byte("tag")}}},
		node{Tag: "multicast"}, node{Tag: "plaintext", Content: []byte("plain")},
	)
	bot := from(types.NewJID("867051314767696", types.BotServer), enc("msmsg"))
	channel := from(types.NewJID("123456", types.NewsletterServer), node{Tag: "plaintext", Attrs: attrs{"mediatype": "image"}, Content: []byte("\x0a\x01a")}, node{Tag: "meta", Attrs: attrs{"msg_edit_t": "1", "original_msg_t": "2"}})
	channel.Attrs["server_id"] = "5"
	status := from(types.StatusBroadcastJID, node{Tag: "plaintext", Content: []byte("x")})
	status.Tag = "status"
	unavailable := from(friend, node{Tag: "unavailable", Attrs: attrs{"type": "view_once"}})
	interop := from(types.JID{User: "77", Server: types.InteropServer, Integrator: 13}, enc("msg"))
	return nodes{from(friend, enc("pkmsg")), from(friend, enc("msg")), inGroup, toList, own, business, bot, channel, status, unavailable, interop, from(friend)}
}

func (l *lab) receiptStanzas() nodes {
	friend, group := l.friend.LID(), l.group.JID()
	receipt := func(from types.JID, kind string, children ...node) node {
		return node{Tag: "receipt", Attrs: attrs{"from": from, "id": "MESSAGE", "t": "1790000000", "type": kind, "recipient": friend, "offline": "1"}, Content: children}
	}
	retry := receipt(friend, "retry",
		node{Tag: "retry", Attrs: attrs{"count": "1", "id": "MESSAGE", "t": "1790000000", "v": "1"}},
		node{Tag: "registration", Content: []byte{0, 0, 0, 1}},
		node{Tag: "keys", Content: nodes{
			{Tag: "type", Content: []byte{5}},
			{Tag: "identity", Content: make([]byte, 32)},
			{Tag: "key", Content: nodes{{Tag: "id", Content: []byte{0, 0, 1}}, {Tag: "value", Content: make([]byte, 32)}}},
			{Tag: "skey", Content: nodes{{Tag: "id", Content: []byte{0, 0, 1}}, {Tag: "value", Content: make([]byte, 32)}, {Tag: "signature", Content: make([]byte, 64)}}},
			{Tag: "device-identity", Content: []byte("x")},
		}},
	)
	read := receipt(group, "read", node{Tag: "list", Content: nodes{{Tag: "item", Attrs: attrs{"id": "OTHER"}}}})
	read.Attrs["participant"] = friend
	return nodes{
		receipt(friend, "read"), receipt(friend, ""), read, retry, receipt(l.phone.LID(), "read-self"), receipt(friend, "server-error"),
		receipt(group, "", node{Tag: "participants", Attrs: attrs{"key": "MESSAGE"}, Content: nodes{{Tag: "user", Attrs: attrs{"jid": friend, "t": "1790000000"}}}}),
	}
}

func (l *lab) callStanzas() (all nodes) {
	friend := l.friend.LID()
	for _, tag := range []string{"offer", "offer_notice", "accept", "preaccept", "reject", "terminate", "relaylatency", "transport", "unknown"} {
		all = append(all, node{Tag: "call", Attrs: attrs{"from": friend, "id": "CALL", "t": "1790000000", "platform": "android", "version": "2.24"}, Content: nodes{{
			Tag: tag,
			Attrs: attrs{
				"call-id": "CALL" + tag, "call-creator": friend, "caller_pn": l.friend.PN(), "caller_lid": friend,
				"group-jid": l.group.JID(), "reason": "timeout", "media": "video", "type": "group",
			},
			Content: nodes{{Tag: "video"}, {Tag: "audio", Attrs: attrs{"enc": "opus"}}},
		}}})
	}
	return all
}

// notification returns one of a type.
func notification(from types.JID, kind string, children ...node) node {
	return node{Tag: "notification", Attrs: attrs{"from": from, "id": "NOTE", "t": "1790000000", "type": kind, "notify": "Sam", "offline": "1"}, Content: children}
}

func (l *lab) notificationStanzas() nodes {
	friend, number, own := l.friend.LID(), l.friend.PN(), l.phone.PN()
	mex := func(op, data string) node {
		return notification(types.ServerJID, "mex", node{Tag: "update", Attrs: attrs{"op_name": op}, Content: []byte(data)})
	}
	devices := notification(number, "devices", node{Tag: "update", Attrs: attrs{"hash": "x"}})
	added := notification(number, "devices",
		node{Tag: "add", Attrs: attrs{"device_hash": "2:x", "device_lid_hash": "2:y"}, Content: nodes{{Tag: "device", Attrs: attrs{"jid": number, "lid": friend}}, {Tag: "key-index-list", Attrs: attrs{"ts": "1"}}}},
		node{Tag: "remove", Attrs: attrs{"device_hash": "2:x", "device_lid_hash": "2:y"}, Content: nodes{{Tag: "device", Attrs: attrs{"jid": number, "lid": friend}}}})
	added.Attrs["lid"] = friend
	return nodes{
		notification(types.ServerJID, "encrypt", node{Tag: "count", Attrs: attrs{"value": "100"}}),
		notification(number, "encrypt", node{Tag: "identity"}), notification(types.ServerJID, "encrypt", node{Tag: "digest"}),
		notification(types.ServerJID, "server_sync", node{Tag: "collection", Attrs: attrs{"name": "regular_low", "version": "1"}}),
		devices, added,
		notification(number, "fbid:devices", node{Tag: "devices", Attrs: attrs{"dhash": "x"}, Content: nodes{{Tag: "device", Attrs: attrs{"id": "1", "jid": number}}}}),
		notification(own, "account_sync",
			node{Tag: "privacy", Content: nodes{{Tag: "category", Attrs: attrs{"name": "last", "value": "all"}}}},
			node{Tag: "devices", Attrs: attrs{"dhash": "2:x"}, Content: nodes{{Tag: "device", Attrs: attrs{"jid": own, "key-index": "1"}}}},
			node{Tag: "picture"}, node{Tag: "status"},
			node{Tag: "blocklist", Attrs: attrs{"action": "modify", "dhash": "x", "prev_dhash": "y"}, Content: nodes{{Tag: "item", Attrs: attrs{"jid": friend, "action": "block"}}}}),
		notification(friend, "picture",
			node{Tag: "set", Attrs: attrs{"jid": friend, "id": "1", "author": friend, "hash": "h"}},
			node{Tag: "add", Attrs: attrs{"jid": friend, "id": "1"}}, node{Tag: "delete", Attrs: attrs{"jid": friend}}),
		notification(own, "mediaretry",
			node{Tag: "rmr", Attrs: attrs{"jid": friend, "from_me": "false", "participant": friend}},
			node{Tag: "encrypt", Content: nodes{{Tag: "enc_p", Content: []byte("x")}, {Tag: "enc_iv", Content: make([]byte, 12)}}}, node{Tag: "error", Attrs: attrs{"code": "2"}}),
		notification(number, "privacy_token", node{Tag: "tokens", Content: nodes{{Tag: "token", Attrs: attrs{"jid": own, "t": "1790000000", "type": "trusted_contact"}, Content: []byte("token")}}}),
		notification(types.ServerJID, "link_code_companion_reg", node{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: nodes{
			{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: make([]byte, 80)}, {Tag: "primary_identity_pub", Content: make([]byte, 32)}, {Tag: "link_code_pairing_ref", Content: []byte("ref")},
		}}),
		notification(types.ServerJID, "companion_reg_refresh", node{Tag: "other"}),
		notification(types.ServerJID, "passkey_prologue_request", node{Tag: "passkey_request_options", Content: []byte("{}")}),
		notification(types.ServerJID, "crsc_continuation", node{Tag: "crsc", Content: []byte("x")}),
		notification(types.NewJID("123456", types.NewsletterServer), "newsletter", node{Tag: "live_updates", Content: nodes{{Tag: "messages", Content: nodes{
			{Tag: "message", Attrs: attrs{"id": "1", "server_id": "1", "type": "text", "t": "1"}, Content: nodes{{Tag: "plaintext", Content: []byte("x")}, {Tag: "views_count", Attrs: attrs{"count": "1"}}, {Tag: "reactions", Content: nodes{{Tag: "reaction", Attrs: attrs{"code": "👍", "count": "1"}}}}}},
		}}}}),
		mex("NotificationNewsletterJoin", `{"data":{"xwa2_notify_newsletter_on_join":{"id":"1@newsletter"}}}`),
		mex("AccountReachoutTimelock", `{"data":{"xwa2_notify_account_reachout_timelock":{"is_active":false}}}`),
		mex("LidChangeNotification", `{"data":{"xwa2_notify_lid_change":{"old":"1@lid","new":"2@lid"}}}`),
		mex("UsernameSetNotification", `{"data":{"xwa2_notify_username_on_change":{"lid":"1@lid","username":"sam"}}}`),
		mex("MessageCappingInfoNotification", `{"data":{"xwa2_notify_new_chat_messages_capping_info_update":{"capping_status":"NONE"}}}`),
		notification(friend, "status", node{Tag: "set", Content: []byte("busy")}),
		notification(own, "contacts", node{Tag: "modify", Attrs: attrs{"old": number, "new": number, "old_lid": friend, "new_lid": friend}}, node{Tag: "update", Attrs: attrs{"jid": friend, "hash": "x"}}),
		notification(own, "disappearing_mode", node{Tag: "disappearing_mode", Attrs: attrs{"duration": "0", "t": "1"}}),
		notification(types.ServerJID, "registration", node{Tag: "wa_old_registration", Attrs: attrs{"code": "1", "expiry_t": "1"}}, node{Tag: "device_logout", Attrs: attrs{"id": "1"}}),
		notification(friend, "business", node{Tag: "verified_name", Content: []byte("x")}), notification(types.ServerJID, "psa"),
	}
}

func (l *lab) groupStanzas() (all nodes) {
	friend := l.friend.LID()
	member := node{Tag: "participant", Attrs: attrs{"jid": friend, "phone_number": l.friend.PN(), "lid": friend, "type": "admin", "participant_username": "sam", "error": "403"}}
	body := nodes{{Tag: "body", Content: []byte("a topic")}}
	target := nodes{{Tag: "group", Attrs: attrs{"jid": l.group.JID(), "subject": "Lab", "s_t": "1"}, Content: nodes{{Tag: "default_sub_group"}}}}
	for tag, content := range map[string]any{
		"add": nodes{member}, "remove": nodes{member}, "promote": nodes{member}, "demote": nodes{member}, "modify": nodes{member},
		"locked": nil, "unlocked": nil, "delete": nil, "subject": nil, "announcement": nil, "not_announcement": nil, "invite": nil,
		"description": body, "ephemeral": nil, "not_ephemeral": nil, "link": target, "unlink": target, "suspended": nil, "unsuspended": nil,
		"membership_approval_mode": nodes{{Tag: "group_join", Attrs: attrs{"state": "on"}}}, "member_add_mode": []byte("admin_add"),
		"created_membership_requests": nodes{{Tag: "requested_user", Attrs: attrs{"jid": friend, "phone_number": l.friend.PN()}}}, "revoked_membership_requests": nodes{member}, "change_number": nodes{member},
		"create": nodes{{Tag: "group", Attrs: attrs{"id": "120363000000000009", "subject": "New", "s_t": "1", "s_o": friend, "creation": "1", "creator": friend, "addressing_mode": "lid"}, Content: nodes{member, {Tag: "description", Attrs: attrs{"id": "x", "t": "1", "participant": friend}, Content: body}, {Tag: "ephemeral", Attrs: attrs{"expiration": "86400"}}, {Tag: "linked_parent", Attrs: attrs{"jid": l.group.JID()}}, {Tag: "member_add_mode", Content: []byte("all_member_add")}, {Tag: "membership_approval_mode"}}}},
	} {
		change := notification(l.group.JID(), "w:gp2", node{Tag: tag, Attrs: attrs{
			"jid": friend, "subject": "Lab", "s_t": "1", "s_o": friend, "id": "x", "t": "1", "v_id": "1", "prev_v_id": "0", "reason": "invite", "type": "new",
			"code": "x", "link_type": "sub_group", "unlink_type": "sub_group", "unlink_reason": "unlink_group", "expiration": "86400", "trigger": "1", "request_method": "invite_link",
		}, Content: content})
		change.Attrs["participant"], change.Attrs["participant_pn"], change.Attrs["addressing_mode"] = friend, l.friend.PN(), "lid"
		all = append(all, change)
	}
	return all
}

func (l *lab) otherStanzas() nodes {
	friend := l.friend.LID()
	return nodes{
		{Tag: "ib", Attrs: attrs{"from": types.ServerJID}, Content: nodes{
			{Tag: "dirty", Attrs: attrs{"type": "groups", "timestamp": "1"}},
			{Tag: "edge_routing", Content: nodes{{Tag: "routing_info", Content: []byte("x")}}},
			{Tag: "thread_metadata"},
			{Tag: "offline", Attrs: attrs{"count": "0"}},
		}},
		{Tag: "chatstate", Attrs: attrs{"from": friend, "participant": friend}, Content: nodes{{Tag: "composing", Attrs: attrs{"media": "audio"}}}},
		{Tag: "presence", Attrs: attrs{"from": friend, "type": "unavailable", "last": "1790000000"}},
		{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "id": "PING", "type": "get", "xmlns": "urn:xmpp:ping", "t": "1"}, Content: nodes{{Tag: "ping"}}},
		{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "id": "PAIR", "type": "set", "xmlns": "md"}, Content: nodes{{Tag: "pair-device", Content: nodes{{Tag: "ref", Content: []byte("ref")}}}}},
		{Tag: "ack", Attrs: attrs{"from": friend, "id": "MESSAGE", "class": "message", "error": "475", "phash": "2:x", "refresh_lid": "true"}},
	}
}
