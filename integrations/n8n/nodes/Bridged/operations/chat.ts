import { chat, choice, either, flag, text } from "../fields";
import type { Resource } from "../operation";

export const chatResource: Resource = {
  name: "Chat",
  value: "chat",
  operations: [
    { name: "Get", value: "get", action: "Get a chat", path: "/api/chats/{jid}", fields: [chat] },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many chats",
      path: "/api/chats",
      options: [
        choice("Archived", "archived", "Whether to get archived chats, or the others", either),
        choice("Kind", "kind", "Only chats of this kind", { group: "Groups", community: "Communities", individual: "People", self: "Yourself" }),
        choice("Pinned", "pinned", "Whether to get pinned chats, or the others", either),
        choice("Unanswered", "unanswered", "Whether to get chats whose last message is not an own one, or the others", either),
        choice("Unread", "unread", "Whether to get chats with unread messages, or the others", either),
        text("With Name", "q", "A part of the name, username or JID"),
      ],
      list: "chats",
      pages: 500,
    },
    {
      name: "Mark as Read",
      value: "markRead",
      action: "Mark a chat as read",
      description: "Send blue ticks, up to a message or for the whole chat",
      method: "POST",
      path: "/api/chats/{jid}/read",
      fields: [chat],
      options: [text("Up to Message ID", "msgId", "The last message that was read")],
    },
    {
      name: "Request History",
      value: "requestHistory",
      action: "Request older messages of a chat from the phone",
      description: "Messages from before the oldest one. They arrive without events once the phone is online. It fails with no_more_history or only_on_phone if the phone has none to send.",
      method: "POST",
      path: "/api/chats/{jid}/history",
      fields: [chat],
      options: [{ property: { displayName: "Count", name: "count", type: "number", default: 50, typeOptions: { minValue: 1, maxValue: 500 }, description: "How many messages at most" } }],
    },
    {
      name: "Show Typing",
      value: "showTyping",
      action: "Show that you are typing in a chat",
      description: "For 25 seconds, or until a message is sent. The phone stays silent meanwhile.",
      method: "POST",
      path: "/api/chats/{jid}/typing",
      fields: [chat, choice("State", "state", "What the chat shows", { typing: "Typing", recording: "Recording", paused: "Nothing" })],
    },
    {
      name: "Update",
      value: "update",
      action: "Archive pin or mute a chat",
      description: "Archive, pin or mute a chat, or mark it as unread, on all of the account's devices",
      method: "PATCH",
      path: "/api/chats/{jid}",
      fields: [chat],
      options: [
        flag("Archived", "archived", "Whether the chat is in the archive"),
        {
          ...text("Muted Until", "mutedUntil", "A time to come, or <code>forever</code>. Empty unmutes.", { default: "forever" }),
          value: (entered) => (entered === "" ? null : entered),
        },
        flag("Pinned", "pinned", "Whether the chat is pinned"),
        flag("Unread", "unread", "Whether the chat is marked as unread. Turned off, it is read without blue ticks."),
      ],
    },
  ],
};
