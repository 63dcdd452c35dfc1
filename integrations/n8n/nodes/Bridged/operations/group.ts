import { choice, flag, group, people, required, text } from "../fields";
import type { Field, Resource } from "../operation";
import { size } from "./contact";

const members: Field = people("People", "participants", "The people", true);

export const groupResource: Resource = {
  name: "Group",
  value: "group",
  operations: [
    {
      name: "Change Members",
      value: "changeMembers",
      action: "Change the members of a group",
      description: "Add or remove members, or make them admins. The answer tells what became of each.",
      method: "POST",
      path: "/api/groups/{jid}/participants",
      fields: [group, choice("Change", "action", "What to do with the people", { add: "Add", demote: "Make No Admins", promote: "Make Admins", remove: "Remove" }), members],
    },
    { name: "Create", value: "create", action: "Create a group", method: "POST", path: "/api/groups", fields: [required("Name", "name", "The name of the new group"), members] },
    {
      name: "Decide Requests",
      value: "decideRequests",
      action: "Approve or reject requests to join a group",
      method: "POST",
      path: "/api/groups/{jid}/requests",
      fields: [group, choice("Decision", "action", "What to do with the requests", { approve: "Approve", reject: "Reject" }), members],
    },
    { name: "Get", value: "get", action: "Get a group and its members", path: "/api/groups/{jid}", fields: [group] },
    { name: "Get Invite Link", value: "getInvite", action: "Get the invite link of a group", path: "/api/groups/{jid}/invite", fields: [group] },
    {
      name: "Get Invited",
      value: "getInvited",
      action: "Get the group of an invite link",
      description: "What an invite link leads to, before joining the group",
      path: "/api/groups/invites/{code}",
      fields: [{ ...required("Invite Link", "code", "The link, or the code in it", { placeholder: "https://chat.whatsapp.com/AbCdEfGhIjKlMnOp" }), value: (entered) => String(entered).trim().replace(/^.*\//, "").replace(/\?.*$/, "") }],
    },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many groups",
      path: "/api/chats",
      always: { type: "group" },
      options: [text("With Name", "q", "A part of the name or JID")],
      list: "chats",
      pages: 500,
    },
    { name: "Get Picture", value: "getPicture", action: "Get the picture of a group", path: "/api/groups/{jid}/picture", fields: [group, size], file: "down" },
    { name: "Get Requests", value: "getRequests", action: "Get the requests to join a group", path: "/api/groups/{jid}/requests", fields: [group], list: "requests" },
    {
      name: "Join",
      value: "join",
      action: "Join a group",
      method: "POST",
      path: "/api/groups/join",
      fields: [required("Link", "link", "The invite link", { placeholder: "https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv" })],
    },
    { name: "Leave", value: "leave", action: "Leave a group", method: "POST", path: "/api/groups/{jid}/leave", fields: [group] },
    { name: "Remove Picture", value: "removePicture", action: "Remove the picture of a group", method: "DELETE", path: "/api/groups/{jid}/picture", fields: [group] },
    { name: "Reset Invite Link", value: "resetInvite", action: "Reset the invite link of a group", method: "DELETE", path: "/api/groups/{jid}/invite", fields: [group] },
    {
      name: "Set Picture",
      value: "setPicture",
      action: "Set the picture of a group",
      description: "The middle of a JPEG, PNG, WebP, GIF or BMP becomes a square",
      method: "PUT",
      path: "/api/groups/{jid}/picture",
      fields: [group],
      file: "up",
    },
    {
      name: "Update",
      value: "update",
      action: "Update a group",
      method: "PATCH",
      path: "/api/groups/{jid}",
      fields: [group],
      options: [
        { ...choice("Disappearing Messages", "disappearingSeconds", "When messages disappear", { "0": "Never", "86400": "After a Day", "604800": "After a Week", "7776000": "After 90 Days" }), value: Number },
        flag("Join Approval", "joinApproval", "Whether an admin lets in who comes by the link"),
        text("Name", "name", "The new name"),
        flag("Only Admins Change It", "isLocked", "Whether only admins may change name, topic and timer"),
        flag("Only Admins Write", "isAnnounce", "Whether only admins may write"),
        text("Topic", "topic", "The description. Empty removes it."),
      ],
    },
  ],
};
