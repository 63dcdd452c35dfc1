// Package groups implements the groups of a network: members, their rights, invitations and links, and the notifications of changes.
//
// A [Registry] answers queries about groups (groupquery.go). [Registry.ChangeGroup] makes every change of a [Group], as a member requests it. The
// caller holds Directory.Mu, which guards all of it. A new setting is a field of Group, a node in Group.settings and a case of Group.apply.
package groups
