// Package groups is the groups of a network: who is in them, who may change what, invitations and links, and the notifications by which members
// learn of changes.
//
// A [Registry] answers the queries to groups (groupquery.go) and is what changes go through: a [Group] is changed by [Registry.ChangeGroup], as a member
// asks for it. All of it is guarded by Directory.Mu, which the caller holds. A new setting is a field of Group, a node in Group.settings and a
// case of Group.apply.
package groups
