import { msgId, text, time } from "../fields";
import type { Resource } from "../operation";

export const scheduledResource: Resource = {
  name: "Scheduled Message",
  value: "scheduled",
  operations: [
    { name: "Cancel", value: "cancel", action: "Cancel a scheduled message", method: "DELETE", path: "/api/scheduled/{msgId}", fields: [msgId] },
    { name: "Get", value: "get", action: "Get a scheduled message", path: "/api/scheduled/{msgId}", fields: [msgId] },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many scheduled messages",
      path: "/api/scheduled",
      options: [text("Chat JID", "chat", "Only the messages to this chat")],
      list: "scheduled",
      pages: 500,
    },
    { name: "Send Now", value: "sendNow", action: "Send a scheduled message now", method: "POST", path: "/api/scheduled/{msgId}/send", fields: [msgId] },
    {
      name: "Update",
      value: "update",
      action: "Change a scheduled message",
      method: "PATCH",
      path: "/api/scheduled/{msgId}",
      fields: [msgId],
      options: [time("Send At", "sendAt", "The new time"), text("Text", "text", "The new text or caption", { typeOptions: { rows: 3 } })],
    },
  ],
};
