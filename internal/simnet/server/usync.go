package server

import (
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/proto/waVnameCert"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// answerUsync handles queries about users: their devices, their LIDs, whether a number is on the network.
func (n *Server) answerUsync(asking *people.Device, node *Node) wire.Answer {
	request, ok := wire.Child(node, "usync")
	if !ok {
		return wire.BadRequest
	}
	query, _ := wire.Child(request, "query")
	list, _ := wire.Child(request, "list")
	var users []Node
	for _, user := range list.GetChildren() {
		if contact, byNumber := wire.Child(&user, "contact"); byNumber {
			users = append(users, n.contactNode(asking, query, string(wire.Bytes(*contact))))
			continue
		}
		jid := wire.JID(&user, "jid")
		users = append(users, userNode(asking, query, jid, n.AccountOf(jid)))
	}
	return wire.Result(Node{Tag: "usync", Attrs: attrs{"sid": wire.Text(request, "sid"), "mode": "query", "context": "interactive"}, Content: []Node{
		{Tag: "result"},
		{Tag: "list", Content: users},
	}})
}

// userNode returns the answer about one user, named in the form of the query.
func userNode(asking *people.Device, query *Node, asked types.JID, a *people.Account) Node {
	out := Node{Tag: "user", Attrs: attrs{"jid": asked}}
	if a == nil {
		return out
	}
	var facts []Node
	for _, topic := range query.GetChildren() {
		switch topic.Tag {
		case "devices":
			facts = append(facts, devicesNode(a))
		case "lid":
			// No LID for a user named by LID: clients would store it as one of a number.
			if !a.Withheld && asked.Server != types.HiddenUserServer {
				facts = append(facts, Node{Tag: "lid", Attrs: attrs{"val": a.LID()}})
			}
		case "status":
			facts = append(facts, aboutNode(asking, a))
		case "username":
			facts = append(facts, Node{Tag: "username", Content: []byte(a.Username)})
		case "disappearing_mode":
			facts = append(facts, a.DefaultTimerNode())
		case "business":
			if a.Business {
				facts = append(facts, Node{Tag: "business", Content: []Node{verifiedName(a)}})
			}
		}
	}
	out.Content = facts
	return out
}

// contactNode returns whether a number is on the network. With addressing_mode "lid" it names the user by LID.
func (n *Server) contactNode(asking *people.Device, query *Node, asked string) Node {
	number, _, _ := strings.Cut(asked, "@")
	a := n.LookUp(asking, wire.Digits(number))
	out := Node{Tag: "user", Attrs: attrs{}}
	answer := Node{Tag: "contact", Attrs: attrs{"type": "out"}, Content: []byte(asked)}
	if a == nil {
		out.Attrs["jid"] = types.NewJID(wire.Digits(number), types.DefaultUserServer)
		out.Content = []Node{answer}
		return out
	}
	answer.Attrs["type"] = "in"
	out = userNode(asking, query, a.PN(), a)
	out.Content = append([]Node{answer}, out.GetChildren()...)
	if mode, _ := wire.Child(query, "contact"); wire.Text(mode, "addressing_mode") == "lid" && !a.Withheld {
		out.Attrs["jid"], out.Attrs["pn_jid"] = a.LID(), a.PN()
	}
	return out
}

// aboutNode returns an account's about text, unless the account hides it.
func aboutNode(asking *people.Device, a *people.Account) Node {
	if a.Privacy["status"] == "none" && asking.Account != a {
		return Node{Tag: "status", Attrs: attrs{"code": "401", "type": "fail"}}
	}
	return Node{Tag: "status", Content: []byte(a.About)}
}

func devicesNode(a *people.Account) Node {
	var list []Node
	for _, d := range a.Sorted() {
		entry := Node{Tag: "device", Attrs: attrs{"id": strconv.Itoa(int(d.Number))}}
		if d.Number != 0 {
			entry.Attrs["key-index"] = strconv.Itoa(int(d.KeyIndex))
		}
		list = append(list, entry)
	}
	return Node{Tag: "devices", Content: []Node{{Tag: "device-list", Content: list}}}
}

// verifiedName returns the certificate with a business's name. Clients do not check its signature.
func verifiedName(a *people.Account) Node {
	details := wire.MustMarshal(&waVnameCert.VerifiedNameCertificate_Details{
		Serial: proto.Uint64(1), Issuer: proto.String("smb:wa"), VerifiedName: proto.String(a.PushName),
	})
	certificate := wire.MustMarshal(&waVnameCert.VerifiedNameCertificate{Details: details})
	level := "unknown"
	if a.Verified {
		level = "high"
	}
	return Node{Tag: "verified_name", Attrs: attrs{
		"v": "1", "verified_level": level, "host_storage": "1", "actual_actors": "1", "privacy_mode_ts": wire.UnixNow(),
	}, Content: certificate}
}
